// hf://datasets/OWNER/NAME@REVISION/path: the Hugging Face Hub. Models have no "datasets/" in front, spaces "spaces/".
#include <simdjson.h>

#include "core/error.h"
#include "storage/http/http_store.h"

namespace avida::storage {
namespace {

// hf://datasets/owner/name@revision/path
struct HubName {
  std::string kind, repository, revision, path;  // kind: "datasets", "models" or "spaces"
};
HubName parse(const std::string& name) {
  std::string rest = name;
  HubName found{"models", {}, "main", {}};
  for (const char* kind : {"datasets", "models", "spaces"}) {
    if (!rest.starts_with(str(kind, '/'))) continue;
    found.kind = kind;
    rest.erase(0, found.kind.size() + 1);
    break;
  }
  const size_t owner = rest.find('/');
  if (owner == rest.npos || owner == 0 || owner + 1 == rest.size())
    value_error("expected hf://datasets/OWNER/NAME/PATH, or OWNER/NAME@REVISION, got hf://", name);
  const size_t end = rest.find('/', owner + 1);
  found.repository = rest.substr(0, end);
  if (end != rest.npos) found.path = rest.substr(end + 1);
  if (const size_t at = found.repository.find('@'); at != rest.npos) {
    found.revision = percent_decoded(found.repository.substr(at + 1));  // refs%2Fconvert%2Fparquet
    found.repository.erase(at);
  }
  return found;
}

class HubStore : public HttpStore {
 public:
  HubStore() : HttpStore("hf") {}

 protected:
  HttpQuestion object(const HttpPart& part, const Settings& settings) const override {
    const std::string& name = part.name;
    const HubName place = parse(name);
    if (place.path.empty()) value_error("expected the name of a file in hf://", name);
    const std::string kind = place.kind == "models" ? "" : place.kind + '/';
    return with_token(str(endpoint(settings), '/', kind, place.repository, "/resolve/",
                          percent_encoded(place.revision, false), '/', percent_encoded(place.path, true)),
                      settings);
  }
  HttpQuestion page(const HttpPage& page, const Settings& settings) const override {
    if (!page.from.empty()) return with_token(checked(page.from, settings), settings);
    const HubName place = parse(page.folder);
    std::string path = place.path;
    while (path.ends_with('/')) path.pop_back();
    return with_token(str(endpoint(settings), "/api/", place.kind, '/', place.repository, "/tree/",
                          percent_encoded(place.revision, false), path.empty() ? "" : "/", percent_encoded(path, true),
                          page.deep ? "?recursive=true" : ""),
                      settings);
  }
  std::string prefix(const std::string& folder) const override { return parse(folder).path; }
  std::string take_page(const std::string& text, const GetHeader& header, const TakeName& take) const override {
    simdjson::dom::parser parser;
    simdjson::dom::array items;
    if (parser.parse(text).get(items) != simdjson::SUCCESS)
      refuse("expected a listing in JSON, got ", text.size(), " bytes of something else");
    for (simdjson::dom::element item : items) {
      std::string_view type, path;
      if (item["type"].get(type) != simdjson::SUCCESS || item["path"].get(path) != simdjson::SUCCESS) continue;
      take(type == "directory" ? str(path, '/') : std::string(path));
    }
    return next_page(header("link"));
  }
  std::string endpoint(const Settings& settings) const override {
    std::string base =
        settings.endpoint ? *settings.endpoint : environment({"HF_ENDPOINT"}).value_or("https://huggingface.co");
    while (base.ends_with('/')) base.pop_back();
    return base;
  }

 private:
  // <https://...>; rel="next"
  static std::string next_page(const std::string& link) {
    const size_t begin = link.find('<'), end = link.find('>');
    if (begin == link.npos || end == link.npos || end < begin || link.find("rel=\"next\"") == link.npos) return {};
    return link.substr(begin + 1, end - begin - 1);
  }
  // The next page must be on the same host.
  std::string checked(const std::string& url, const Settings& settings) const {
    if (!url.starts_with(endpoint(settings) + '/')) refuse("the listing goes on at another host: ", url);
    return url;
  }

  // The hub sends files from other hosts, which must not see the token: libcurl keeps Authorization to the first host.
  static HttpQuestion with_token(const std::string& url, const Settings& settings) {
    HttpQuestion asked{url, {}, true};
    asked.send_token(settings);
    return asked;
  }
};

[[maybe_unused]] const int registered = [] {
  register_store("hf", std::make_shared<HubStore>());
  return 0;
}();

}  // namespace
}  // namespace avida::storage
