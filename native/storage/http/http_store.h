// A store that is reached over HTTP: many requests at a time, tried again where that may help.
#pragma once
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

class HttpStore : public Store {
 public:
  explicit HttpStore(std::string scheme) : scheme_(std::move(scheme)) {}

  int most_requests() const override;
  std::string service(const std::string& name) const override { return endpoint(settings_of(full(name))); }
  void get(Request& request) const override { fetch({&request, 1}); }
  void fetch(std::span<Request> requests) const override;

 protected:
  // Called for each try, since signatures have a date. The settings are those of the name.
  virtual HttpQuestion object(const HttpPart& part, const Settings& settings) const = 0;
  // The address of the service, if it is not the usual one.
  virtual std::string endpoint(const Settings& /*settings*/) const { return {}; }
  // What the headers of an answer say of the version.
  virtual std::string version(const std::function<std::string(const std::string&)>& header) const;

  std::string full(const std::string& name) const { return scheme_ + "://" + name; }
  // The text at an address, such as a page of a listing. `header` receives the header of that name.
  std::string page(const std::string& name, const std::function<HttpQuestion(const Settings&)>& ask,
                   const std::string& header_name = {}, std::string* header = nullptr) const;

 private:
  struct Asked;
  void answer_all(std::span<Asked> asked) const;

  const std::string scheme_;
  const int64_t most_ = memory_of_machine() / 2;  // bytes of an object that is read as a whole
};

// The pages of a listing, which must lead on: a server may go in a circle, or send pages without names for ever.
class Onward {
 public:
  // Where the next page begins, and the names that all pages had up to there. Throws where it was there before.
  void check(const std::string& next, int64_t names);

 private:
  std::string earlier_;
  int64_t pages_ = 0, compared_ = 1, names_ = 0, without_names_ = 0;
};

// Everything but letters, digits and -._~ as %XX, and slashes too unless they are kept.
std::string percent_encoded(std::string_view text, bool keep_slashes);
std::string percent_decoded(std::string_view text);

}  // namespace avida::storage
