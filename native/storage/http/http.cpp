// http:// and https://: objects at addresses. There are no listings.
#include "core/error.h"
#include "storage/http/http_store.h"

namespace avida::storage {
namespace {

class WebStore : public HttpStore {
 public:
  using HttpStore::HttpStore;

 private:
  // Names are addresses as they are, but for what no address has: blanks, and letters that are not of ASCII.
  static std::string address(const std::string& name) {
    std::string encoded;
    for (const char& c : name)
      if (c > ' ' && c < 127)
        encoded += c;
      else
        encoded += percent_encoded({&c, 1}, false);
    return encoded;
  }

 protected:
  HttpQuestion object(const HttpPart& part, const Settings& settings) const override {
    HttpQuestion asked{address(full(part.name)), {}, true};
    asked.send_token(settings);
    return asked;
  }
};

[[maybe_unused]] const int registered = [] {
  for (const char* scheme : {"http", "https"}) register_store(scheme, std::make_shared<WebStore>(scheme));
  return 0;
}();

}  // namespace
}  // namespace avida::storage
