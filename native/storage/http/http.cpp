// http:// and https://: objects at addresses. There are no listings.
#include "core/error.h"
#include "storage/http/http_store.h"

namespace avida::storage {
namespace {

class WebStore : public HttpStore {
 public:
  using HttpStore::HttpStore;

  void list(const std::string& folder, bool, const OnEntry&) const override {
    refuse(full(folder), " cannot be listed: HTTP has no listings. Name the files, such as by files= or file_list=");
  }

 protected:
  HttpQuestion object(const std::string& name, const std::string&, const Settings& settings) const override {
    HttpQuestion asked{full(name), {}, true};
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
