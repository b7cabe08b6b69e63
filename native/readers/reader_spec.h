// The specification of a reader: its declaration, which Python reads, and how to open its data.
#pragma once
#include <any>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arguments/choices.h"
#include "core/dtype.h"
#include "readers/source.h"
#include "runtime/executor.h"

namespace avida {

struct ReaderArgs;

// An argument as Python gave it. Names of files are texts; `any` is what the binding of one reader made.
using ReaderValue = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>, std::vector<double>,
                                 std::vector<std::string>, std::vector<DType>, std::any>;

struct ReaderArg {
  enum class Type {
    python,  // only Python code sees it
    boolean,
    integer,
    real,
    text,
    path,
    dtype,
    choice,
    integers,
    reals,
    texts,
    paths,
    dtypes,
    object,  // a type of one reader
  };
  enum Flag : unsigned {
    required = 1,
    ignored = 2,     // accepted for compatibility
    locates = 4,     // tells where the data is
    positional = 8,  // need not be named
    last = 16,       // comes behind all others
    internal = 32,   // Python code sets it, users do not
  };

  std::string name, doc;
  Type type;
  std::string annotation;  // its type in Python, if that does not follow from `type`
  unsigned flags;
  std::string default_text;  // as written in Python; empty if it has none
  std::function<void(ReaderArgs&, ReaderValue)> set;
  const Choices* choices = nullptr;
};

// What a source can do while it opens its data.
struct Opening {
  std::string reader;                            // its name, for messages
  Interrupt interrupt;                           // to be called regularly; may throw
  std::function<void(const std::string&)> warn;  // shows the user a warning
};

struct ReaderSpec {
  std::string name;  // with its module: "experimental.Fits"
  std::string doc, example;
  std::string base;     // the reader that it is a kind of
  std::string op;       // an operator whose arguments it takes too, for Python code to pass on
  std::string library;  // without which a build lacks it
  bool archive = false, blocks = false;
  std::vector<ReaderArg> args;                                 // the reader's own
  std::vector<std::pair<std::string, std::string>> old_names;  // of arguments, and their names now
  std::shared_ptr<ReaderArgs> (*make_args)();
  std::function<void(ReaderArgs&)> check = [](ReaderArgs&) {};
  std::function<std::shared_ptr<Source>(const ReaderArgs&, const Opening&)> open;
};

int register_reader(std::function<ReaderSpec()> declaration);
const std::vector<ReaderSpec>& all_readers();
// What every reader takes beside the arguments of its format.
const std::vector<ReaderArg>& common_reader_args();

}  // namespace avida
