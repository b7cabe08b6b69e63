// s3://bucket/key: Amazon S3, and what speaks its protocol.
#include <algorithm>
#include <ctime>

#include "core/error.h"
#include "storage/http/http_store.h"
#include "storage/http/sigv4.h"
#include "storage/http/xml.h"

namespace avida::storage {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

struct BucketAndKey {
  std::string bucket, key;
};
BucketAndKey parts_of(const std::string& name) {
  const size_t slash = name.find('/');
  if (name.empty() || slash == 0) value_error("expected s3://BUCKET/KEY, got s3://", name);
  return {name.substr(0, slash), slash == name.npos ? "" : name.substr(slash + 1)};
}

class S3Store : public HttpStore {
 public:
  S3Store() : HttpStore("s3") {}

 protected:
  HttpQuestion object(const HttpPart& part, const Settings& settings) const override {
    const std::string& name = part.name;
    const auto [bucket, key] = parts_of(name);
    if (key.empty()) value_error("expected s3://BUCKET/KEY, got s3://", name);
    return question(bucket, key, {}, settings);
  }
  std::string endpoint(const Settings& settings) const override { return endpoint_of(settings); }

  HttpQuestion page(const HttpPage& page, const Settings& settings) const override {
    const auto [bucket, prefix] = parts_of(page.folder);
    Query query = {{"list-type", "2"}, {"prefix", prefix}, {"encoding-type", "url"}};
    if (!page.deep) query.emplace_back("delimiter", "/");
    if (!page.from.empty()) query.emplace_back("continuation-token", page.from);
    return question(bucket, "", query, settings);
  }
  std::string prefix(const std::string& folder) const override { return parts_of(folder).key; }
  std::string take_page(const std::string& text, const GetHeader&, const TakeName& take) const override {
    if (text.find("<ListBucketResult") == text.npos)
      refuse("expected a listing in XML (ListBucketResult), got ", text.size(), " bytes of something else");
    const bool is_encoded = element_text(text, "EncodingType") == "url";
    auto add = [&](std::string name) {
      if (is_encoded) {
        std::ranges::replace(name, '+', ' ');
        name = percent_decoded(name);
      }
      take(name);
    };
    each_element(text, "Contents", [&](std::string_view each) { add(element_text(each, "Key")); });
    each_element(text, "CommonPrefixes", [&](std::string_view each) { add(element_text(each, "Prefix")); });
    if (element_text(text, "IsTruncated") != "true") return {};
    std::string next = element_text(text, "NextContinuationToken");
    if (next.empty()) refuse("the listing of the store is not complete, and it does not say how it goes on");
    return next;
  }

 private:
  static std::string endpoint_of(const Settings& settings) {
    if (settings.endpoint) return *settings.endpoint;
    return environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}).value_or("");
  }

  static HttpQuestion question(const std::string& bucket, const std::string& key, const Query& query,
                               const Settings& settings) {
    const std::string endpoint = endpoint_of(settings);
    const std::string region =
        settings.region ? *settings.region : environment({"AWS_REGION", "AWS_DEFAULT_REGION"}).value_or("us-east-1");
    std::string base = endpoint.empty() ? str("https://s3.", region, ".amazonaws.com") : endpoint;
    while (base.ends_with('/')) base.pop_back();
    const size_t host_at = base.find("://");
    if (host_at == base.npos) value_error("expected an endpoint such as http://host:9000, got ", base);
    // Certificates are not for names with further dots.
    const bool in_path = settings.path_style.value_or(!endpoint.empty() || bucket.find('.') != bucket.npos);
    std::string path = '/' + percent_encoded(key, true);
    if (in_path)
      path = '/' + bucket + path;
    else
      base.insert(host_at + 3, bucket + '.');
    std::string host = base.substr(host_at + 3);
    if (const size_t slash = host.find('/'); slash != host.npos) {
      path = host.substr(slash) + path;
      host.erase(slash);
    }
    HttpQuestion asked{base.substr(0, host_at + 3) + host + path + query_text(query)};
    // libcurl does not send the usual ports, so they are not signed.
    for (const auto& [scheme, port] : {std::pair("http://", ":80"), std::pair("https://", ":443")})
      if (base.starts_with(scheme) && host.ends_with(port)) host.erase(host.rfind(':'));
    asked.take_credentials(settings);
    if (!asked.credentials.key.empty())
      asked.headers = signed_headers(asked.credentials, region, host, path, query, std::time(nullptr));
    return asked;
  }
};

[[maybe_unused]] const int registered = [] {
  register_store("s3", std::make_shared<S3Store>());
  return 0;
}();

}  // namespace
}  // namespace avida::storage
