// What the samples of a batch need of objects that are not local, fetched together before they are opened.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/storage.h"

namespace avida::storage {

class FetchedObject;

// The parts of objects that samples name. Those of local stores are passed over.
class Needs {
 public:
  void whole(const std::string& name);
  void beginning(const std::string& name, int64_t bytes);
  void part(const std::string& name, const ObjectPtr& object, int64_t offset, int64_t bytes);

 private:
  friend class Fetched;
  struct Parts {
    ObjectPtr object;                                 // null: it is not open yet
    std::vector<std::pair<int64_t, int64_t>> ranges;  // offset and bytes; all of it: Request::kAll
  };
  std::map<std::string, Parts> parts_;
};

// Opens objects. They read what was fetched from memory, and everything else from their stores.
class Fetched {
 public:
  Fetched() = default;
  // Parts that are near each other are one request.
  explicit Fetched(const Needs& needs);
  // One for each, asked for together.
  static std::vector<Fetched> all_of(std::span<const Needs> needs);

  // Takes over what another one has.
  void add(const Fetched& other);
  bool has_errors() const;

  ObjectPtr open(std::string name) const;
  std::string read_text(const std::string& name) const;  // all of it
  // The same for an object that is open already.
  ObjectPtr of(const std::string& name, const ObjectPtr& object) const;

 private:
  struct Found {
    std::shared_ptr<const FetchedObject> object;
    std::exception_ptr error{};
  };
  void take(std::span<Request> answers, const ObjectPtr& object);

  std::map<std::string, Found, std::less<>> found_;
};

}  // namespace avida::storage
