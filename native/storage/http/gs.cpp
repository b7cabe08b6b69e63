// gs://bucket/key: Google Cloud Storage, by its JSON interface.
#include <simdjson.h>

#include "core/error.h"
#include "storage/http/http_store.h"
#include "storage/http/sigv4.h"

namespace avida::storage {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

class GoogleStore : public HttpStore {
 public:
  GoogleStore() : HttpStore("gs") {}

 protected:
  HttpQuestion object(const HttpPart& part, const Settings& settings) const override {
    const std::string& name = part.name;
    const size_t slash = name.find('/');
    if (slash == 0 || slash == name.npos || slash + 1 == name.size())
      value_error("expected gs://BUCKET/KEY, got gs://", name);
    return question(name.substr(0, slash), name.substr(slash + 1), {{"alt", "media"}}, settings);
  }
  std::string version(const GetHeader& header) const override {
    const std::string generation = header("x-goog-generation");
    return generation.empty() ? HttpStore::version(header) : generation;
  }
  std::string endpoint(const Settings& settings) const override { return endpoint_of(settings); }

  HttpQuestion page(const HttpPage& page, const Settings& settings) const override {
    Query query = {{"prefix", prefix(page.folder)}, {"fields", "items(name),prefixes,nextPageToken"}};
    if (!page.deep) query.emplace_back("delimiter", "/");
    if (!page.from.empty()) query.emplace_back("pageToken", page.from);
    return question(page.folder.substr(0, page.folder.find('/')), {}, query, settings);
  }
  std::string prefix(const std::string& folder) const override { return folder.substr(folder.find('/') + 1); }
  std::string take_page(const std::string& text, const GetHeader&, const TakeName& take) const override {
    simdjson::dom::parser parser;
    simdjson::dom::element answer;
    if (parser.parse(text).get(answer) != simdjson::SUCCESS || !answer.is_object())
      refuse("expected a listing in JSON, got ", text.size(), " bytes of something else");
    std::string_view name;
    if (simdjson::dom::array items; answer["items"].get(items) == simdjson::SUCCESS)
      for (simdjson::dom::element item : items)
        if (item["name"].get(name) == simdjson::SUCCESS) take(name);
    if (simdjson::dom::array folders; answer["prefixes"].get(folders) == simdjson::SUCCESS)
      for (simdjson::dom::element folder : folders)
        if (folder.get(name) == simdjson::SUCCESS) take(name);
    std::string_view next;
    return answer["nextPageToken"].get(next) == simdjson::SUCCESS ? std::string(next) : "";
  }

 private:
  static std::string endpoint_of(const Settings& settings) {
    return settings.endpoint ? *settings.endpoint : environment({"STORAGE_EMULATOR_HOST"}).value_or("");
  }

  static HttpQuestion question(const std::string& bucket, const std::string& key, const Query& query,
                               const Settings& settings) {
    std::string base = endpoint_of(settings);
    if (base.empty()) base = "https://storage.googleapis.com";
    if (base.find("://") == base.npos) base = "http://" + base;
    while (base.ends_with('/')) base.pop_back();
    HttpQuestion asked{str(base, "/storage/v1/b/", percent_encoded(bucket, false), "/o",
                           key.empty() ? "" : str("/", percent_encoded(key, false)), query_text(query))};
    asked.send_token(settings);
    return asked;
  }
};

[[maybe_unused]] const int registered = [] {
  register_store("gs", std::make_shared<GoogleStore>());
  return 0;
}();

}  // namespace
}  // namespace avida::storage
