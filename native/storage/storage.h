// Where data lies: objects that are opened by their names, in stores that are registered by scheme.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data.h"
#include "core/error.h"

namespace avida::storage {

// What tells that an object is still the same: its size, and its ETag, generation or time of change; empty if the store
// does not know one.
struct Identity {
  int64_t size = 0;
  std::string version;
  bool operator==(const Identity&) const = default;
};

// An object, such as a file, as it was when it was opened. Thread-safe, also in a forked child. Errors do not name it:
// the caller does.
class Object {
 public:
  explicit Object(int64_t size) : size_(size) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;

  int64_t size() const { return size_; }
  virtual Identity identity() const { return {size_, {}}; }
  // Whether a read takes longer than from the page cache.
  virtual bool is_local() const { return true; }
  // Throws where the object is shorter by now, or is another one.
  virtual void read_at(int64_t offset, void* to, int64_t bytes) const = 0;
  // Says that a part will be read soon, without waiting for it.
  virtual void read_ahead(int64_t /*offset*/, int64_t /*bytes*/) const {}
  // Says that it will not be read soon: what it holds of the system goes, until the next read.
  virtual void rest() const {}

 private:
  const int64_t size_;
};
using ObjectPtr = std::shared_ptr<const Object>;

// Bytes that outlive it, as an object.
class BytesObject : public Object {
 public:
  explicit BytesObject(std::span<const uint8_t> bytes) : Object(std::ssize(bytes)), bytes_(bytes) {}
  void read_at(int64_t offset, void* to, int64_t bytes) const override;

 private:
  std::span<const uint8_t> bytes_;
};

// What a store throws where it knows that there is no object of the name. All else that goes wrong leaves that open.
struct MissingObject : Error {
  explicit MissingObject(std::string message) : Error(ErrorKind::runtime, std::move(message)) {}
};

// A range of an object that a store is asked for, and what it answers.
struct Request {
  static constexpr int64_t kAll = -1;

  std::string name;
  int64_t offset = 0, bytes = kAll;  // no bytes: the identity alone
  std::string version;               // the one that is expected, unless empty

  Identity identity{};
  Block data{};  // of received bytes: what allocate() of runtime/memory.h gives
  int64_t received = 0;
  std::exception_ptr error{};  // then there is nothing else

  // What is wrong with the answer: the error, or that the object is another one by now. Null if it is good.
  std::exception_ptr problem() const;
  // Throws the problem, or an error if fewer bytes were received.
  void check(int64_t least = 0) const;
};

struct Entry {
  std::string_view name;  // relative to the folder
  bool is_folder = false;
};
using OnEntry = std::function<void(const Entry&)>;

// The entries of a folder, for stores that know the names of their objects alone.
class EntriesOf {
 public:
  EntriesOf(const std::string& folder, bool deep, const OnEntry& on_entry);
  void add(std::string_view name);  // of any object of the store

 private:
  std::string prefix_;
  bool deep_;
  const OnEntry& on_entry_;
  std::set<std::string, std::less<>> folders_;
};

// A kind of place. A new one has get() and list(), and is registered; names are what follows "scheme://". All functions
// are thread-safe, are called without Python's lock, and throw Error.
class Store : public std::enable_shared_from_this<Store> {
 public:
  virtual ~Store() = default;

  // Whether reading takes no longer than from the page cache, so that nothing is fetched for a whole batch.
  virtual bool is_local() const { return false; }
  // How many requests may be under way at a time, for all readers together.
  virtual int most_requests() const { return 128; }
  // What tells objects of one name in different places apart, such as an endpoint that a user has set; else empty.
  virtual std::string service(const std::string& /*name*/) const { return {}; }

  // Answers a request, and returns when that is done. A range that goes beyond the end is answered up to there.
  virtual void get(Request& request) const = 0;
  // The objects and folders in a folder, in any order; or the objects in it and in all folders under it. "" is the
  // whole store.
  virtual void list(const std::string& folder, bool deep, const OnEntry& on_entry) const = 0;

  // Answers many requests; errors are in the answers. By default get() does, on threads of this room.
  virtual void fetch(std::span<Request> requests) const;
  virtual ObjectPtr open(const std::string& name) const;
};

// Replaces the store that the scheme had. The local store has "file" and all names without a scheme.
void register_store(const std::string& scheme, std::shared_ptr<const Store> store);
void unregister_store(const std::string& scheme);

// "s3" of "s3://bucket/key"; empty for a path.
std::string_view scheme_of(std::string_view name);
bool is_local(std::string_view name);

ObjectPtr open(std::string name);
// Many, which are asked for together; each opened, or why it cannot be. They rest until they are read.
struct Opened {
  ObjectPtr object;
  std::exception_ptr error{};
};
std::vector<Opened> open_all(const std::vector<std::string>& names);
// One that is not local, of which the store has said what it is.
ObjectPtr opened_object(const std::string& name, const Identity& identity);
std::string read_text(const std::string& name);  // all of it
Identity identity(const std::string& name);
bool exists(const std::string& name);  // throws where that cannot be found out
// Whether the name is that of a folder on this machine.
bool is_local_folder(const std::string& name);
// Many requests with whole names, of any stores, at the same time.
void fetch(std::span<Request> requests);
void list(const std::string& folder, bool deep, const OnEntry& on_entry);

// An object that one thread reads in ascending order, in small pieces: each request to another machine brings more.
ObjectPtr in_order(ObjectPtr object);

}  // namespace avida::storage
