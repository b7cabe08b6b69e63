// The declaration of a reader:
//
//   AVIDA_READER(File, FileArgs) {
//     reader.doc("...").path("file_root", &FileArgs::file_root, "...").arg("labels", &FileArgs::labels, "...")
//         .check(check_files).source(file_source);
//   }
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "readers/reader_spec.h"

namespace avida {

// What all arguments structs begin with.
struct ReaderArgs {
  bool read_ahead = false;
  bool skip_errors = false;  // samples that cannot be read are left out
  storage::CachePtr cache;   // through which data that is not local is read, if any
  std::optional<int> gpu;    // the number of the GPU on which outputs are wanted
};

// How a member of an arguments struct is made from what Python gave.
template <class M>
struct ReaderMember {
  static constexpr ReaderArg::Type type() {
    using Type = ReaderArg::Type;
    if constexpr (std::is_same_v<M, bool>) return Type::boolean;
    if constexpr (std::is_integral_v<M>) return Type::integer;
    if constexpr (std::is_floating_point_v<M>) return Type::real;
    if constexpr (std::is_same_v<M, std::string>) return Type::text;
    if constexpr (std::is_same_v<M, DType>) return Type::dtype;
    if constexpr (std::is_same_v<M, std::vector<int64_t>>) return Type::integers;
    if constexpr (std::is_same_v<M, std::vector<double>>) return Type::reals;
    if constexpr (std::is_same_v<M, std::vector<std::string>>) return Type::texts;
    if constexpr (std::is_same_v<M, std::vector<DType>>) return Type::dtypes;
    if constexpr (HasChoices<M>) return Type::choice;
    return Type::object;
  }
  static const Choices* choices() {
    if constexpr (HasChoices<M>) return &choices_of(M());
    return nullptr;
  }
  static void assign(M& member, ReaderValue value) {
    if constexpr (std::is_same_v<M, bool>) {
      member = std::get<bool>(value);
    } else if constexpr (std::is_integral_v<M>) {
      member = static_cast<M>(std::get<int64_t>(value));
      if (member != std::get<int64_t>(value)) value_error("the number ", std::get<int64_t>(value), " is too large");
    } else if constexpr (std::is_floating_point_v<M>) {
      member = static_cast<M>(std::get<double>(value));
    } else if constexpr (HasChoices<M>) {
      const auto* name = std::get_if<std::string>(&value);
      const Choices& choices = choices_of(M());
      member = static_cast<M>(name ? choices.number_of(*name) : choices.checked(std::get<int64_t>(value)));
    } else if constexpr (type() == ReaderArg::Type::object) {
      member = std::any_cast<M>(std::get<std::any>(std::move(value)));
    } else {
      member = std::get<M>(std::move(value));
    }
  }
  static std::string text(const M& member) {
    if constexpr (std::is_same_v<M, bool>)
      return member ? "True" : "False";
    else if constexpr (std::is_arithmetic_v<M>)
      return str(member);
    else if constexpr (std::is_same_v<M, DType>)
      return std::string(name_of(member));
    else if constexpr (HasChoices<M>)
      return str('"', choices_of(member).name_of(static_cast<int>(member)), '"');
    else
      return {};
  }
};
template <class M>
struct ReaderMember<std::optional<M>> {
  static constexpr ReaderArg::Type type() { return ReaderMember<M>::type(); }
  static const Choices* choices() { return ReaderMember<M>::choices(); }
  static void assign(std::optional<M>& member, ReaderValue value) {
    ReaderMember<M>::assign(member.emplace(), std::move(value));
  }
  static std::string text(const std::optional<M>& member) { return member ? ReaderMember<M>::text(*member) : ""; }
};

template <class Args>
class ReaderDeclaration {
 public:
  explicit ReaderDeclaration(std::string_view name) {
    spec.name = name;
    spec.make_args = [] { return std::static_pointer_cast<ReaderArgs>(std::make_shared<Args>()); };
  }

  // Paragraphs, separated by empty lines.
  ReaderDeclaration& doc(std::string_view text) { return spec.doc = text, *this; }
  // Lines as Python's prompt shows them.
  ReaderDeclaration& example(std::string_view lines) { return spec.example = lines, *this; }
  // Takes the arguments of an operator, too, which Python code sees to.
  ReaderDeclaration& takes_args_of(std::string_view op) { return spec.op = op, *this; }
  // The library without which a build lacks the reader.
  ReaderDeclaration& needs(std::string_view library) { return spec.library = library, *this; }
  // The reader may be told to shuffle in both ways, as readers of archives are in the real library.
  ReaderDeclaration& archive() { return spec.archive = true, *this; }
  // Its source has blocks, so that the reader may be told to shuffle by them.
  ReaderDeclaration& blocks() {
    spec.blocks = true;
    return python(
        "random_shuffle", "bool | Blocks | None",
        "Assign the samples to the shards at random (in the same way in all shards) and shuffle the whole "
        "shard in each epoch. ``readers.Blocks(window=16)`` shuffles by blocks, so that neighbours lie near each "
        "other. Default: ``False``.");
  }
  // A reader that this one is a kind of.
  ReaderDeclaration& extends(std::string_view reader) { return spec.base = reader, *this; }

  template <class Owner, class M>
  ReaderDeclaration& arg(std::string_view name, M Owner::* member, std::string_view text, unsigned flags = 0) {
    return add(name, member, text, flags, ReaderMember<M>::type());
  }
  // Names of files, which tell where the data is.
  template <class Owner, class M>
  ReaderDeclaration& path(std::string_view name, M Owner::* member, std::string_view text, unsigned flags = 0) {
    const bool one = ReaderMember<M>::type() == ReaderArg::Type::text;
    return add(name, member, text, flags | ReaderArg::locates, one ? ReaderArg::Type::path : ReaderArg::Type::paths);
  }
  // The type of the argument declared last, as Python writes it, where its values are not those of its member.
  ReaderDeclaration& typed(std::string_view annotation) { return spec.args.back().annotation = annotation, *this; }
  // An argument that Python code alone sees.
  ReaderDeclaration& python(std::string_view name, std::string_view annotation, std::string_view text,
                            unsigned flags = 0) {
    spec.args.push_back({std::string(name), std::string(text), {}, std::string(annotation), flags, {}, {}, {}});
    return *this;
  }
  // An argument that is accepted for compatibility and has no effect.
  ReaderDeclaration& ignored(std::string_view name, std::string_view annotation) {
    return python(name, annotation, {}, ReaderArg::ignored);
  }
  // An old name of an argument, which must be declared too.
  ReaderDeclaration& renamed(std::string_view old, std::string_view name) {
    spec.old_names.emplace_back(old, name);
    return *this;
  }

  // Called when a reader is made: throws if the arguments contradict one another.
  ReaderDeclaration& check(void (*fn)(Args&)) {
    spec.check = [fn](ReaderArgs& args) { fn(static_cast<Args&>(args)); };
    return *this;
  }
  // Opens the data: called once, without the GIL.
  ReaderDeclaration& source(std::shared_ptr<Source> (*fn)(const Args&, const Opening&)) {
    spec.open = [fn](const ReaderArgs& args, const Opening& opening) {
      return fn(static_cast<const Args&>(args), opening);
    };
    return *this;
  }

  ReaderSpec spec;

 private:
  template <class Owner, class M>
  ReaderDeclaration& add(std::string_view name, M Owner::* member, std::string_view text, unsigned flags,
                         ReaderArg::Type type) {
    static_assert(std::is_base_of_v<Owner, Args>);
    spec.args.push_back({std::string(name),
                         std::string(text),
                         type,
                         {},
                         flags,
                         ReaderMember<M>::text(Args().*member),
                         [member](ReaderArgs& args, ReaderValue value) {
                           ReaderMember<M>::assign(static_cast<Args&>(args).*member, std::move(value));
                         },
                         ReaderMember<M>::choices()});
    return *this;
  }
};

template <class Args>
int declare_reader(std::string_view name, void (*fill)(ReaderDeclaration<Args>&)) {
  return register_reader([name, fill] {
    ReaderDeclaration<Args> reader(name);
    fill(reader);
    return std::move(reader.spec);
  });
}

#define AVIDA_READER_NAMED(ID, NAME, ARGS)                                                           \
  [[gnu::cold]] static void declare_##ID(::avida::ReaderDeclaration<ARGS>& reader);                  \
  [[maybe_unused]] static const int reader_##ID = ::avida::declare_reader<ARGS>(NAME, declare_##ID); \
  static void declare_##ID(::avida::ReaderDeclaration<ARGS>& reader)
#define AVIDA_READER(NAME, ARGS) AVIDA_READER_NAMED(NAME, #NAME, ARGS)
// A reader of a Python module: AVIDA_READER_IN(experimental, Fits, Args) is avida.experimental.readers.Fits.
#define AVIDA_READER_IN(MODULE, NAME, ARGS) AVIDA_READER_NAMED(MODULE##_##NAME, #MODULE "." #NAME, ARGS)

}  // namespace avida
