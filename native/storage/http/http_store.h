// A store that is reached over HTTP: many requests at a time, tried again where that may help.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/memory.h"
#include "storage/http/settings.h"
#include "storage/storage.h"

namespace avida::storage {

// How an object, or a page of a listing, is asked for.
struct HttpQuestion {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  bool redirects = false;            // may be followed: no header but Authorization is secret
  std::shared_ptr<CredentialSource> signed_by{};
  Credentials credentials{};  // those that it is signed with; none if there are none

  void take_credentials(const Settings& settings);
  // Takes them, and sends their token as a header.
  void send_token(const Settings& settings);
};

// What an object is asked for: the values of the headers Range and If-Match, which are added later, or nothing.
struct HttpPart {
  std::string name, range, match;
};

// The value of a header of an answer, by its name in lower case; empty if it has none.
using GetHeader = std::function<std::string(const std::string&)>;

// A page of the listing of a folder.
struct HttpPage {
  std::string folder;  // ends with a slash
  bool deep;           // also what is in the folders in it
  std::string from;    // what the page before says of this one; empty: the first one
};
// Called with names as the service has them, those of folders with a slash at their ends.
using TakeName = std::function<void(std::string_view)>;

struct Asked;

class HttpStore : public Store {
 public:
  explicit HttpStore(std::string scheme) : scheme_(std::move(scheme)) {}

  int most_requests() const override;
  std::string service(const std::string& name) const override { return endpoint(settings_of(full(name))); }
  void get(Request& request) const override { fetch({&request, 1}); }
  void fetch(std::span<Request> requests) const override;
  // Where there is more than a page, the folders in it are listed at the same time.
  void list(const std::string& folder, bool deep, const OnEntry& on_entry) const override;

 protected:
  // Called for each try, since signatures have a date. The settings are those of the name.
  virtual HttpQuestion object(const HttpPart& part, const Settings& settings) const = 0;
  // The address of the service, if it is not the usual one.
  virtual std::string endpoint(const Settings& /*settings*/) const { return {}; }
  // What the headers of an answer say of the version.
  virtual std::string version(const GetHeader& header) const;

  std::string full(const std::string& name) const { return scheme_ + "://" + name; }
  // How a page of a listing is asked for. Throws where there are no listings.
  virtual HttpQuestion page(const HttpPage& page, const Settings& settings) const;
  // How the names of all objects in a folder begin, as the service has them.
  virtual std::string prefix(const std::string& /*folder*/) const { return {}; }
  // Takes the names of a page; returns what leads to the next one, empty behind the last one.
  virtual std::string take_page(const std::string& /*text*/, const GetHeader&, const TakeName&) const { return {}; }

 private:
  friend struct Asked;
  class Listing;
  // Also those that are added while they are answered.
  void answer_all(std::deque<Asked>& asked) const;

  const std::string scheme_;
  const int64_t most_ = memory_of_machine() / 2;  // bytes of an object that is read as a whole
};

// Everything but letters, digits and -._~ as %XX, and slashes too unless they are kept.
std::string percent_encoded(std::string_view text, bool keep_slashes);
std::string percent_decoded(std::string_view text);

}  // namespace avida::storage
