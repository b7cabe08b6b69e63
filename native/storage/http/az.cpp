// az://container/blob: Azure Blob Storage.
#include <algorithm>
#include <array>
#include <ctime>

#include "core/error.h"
#include "storage/http/http_store.h"
#include "storage/http/sigv4.h"
#include "storage/http/xml.h"

namespace avida::storage {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;
constexpr const char* kVersion = "2021-08-06";  // of the protocol

std::string http_date() {
  const time_t now = std::time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  return {text.data(), strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

class AzureStore : public HttpStore {
 public:
  AzureStore() : HttpStore("az") {}

 protected:
  HttpQuestion object(const HttpPart& part, const Settings& settings) const override {
    const std::string& name = part.name;
    const size_t slash = name.find('/');
    if (slash == 0 || slash == name.npos || slash + 1 == name.size())
      value_error("expected az://CONTAINER/BLOB, got az://", name);
    return question(part, {}, settings);
  }
  HttpQuestion page(const HttpPage& page, const Settings& settings) const override {
    Query query = {{"restype", "container"}, {"comp", "list"}, {"prefix", prefix(page.folder)}};
    if (!page.deep) query.emplace_back("delimiter", "/");
    if (!page.from.empty()) query.emplace_back("marker", page.from);
    return question({page.folder.substr(0, page.folder.find('/')), {}, {}}, query, settings);
  }
  std::string prefix(const std::string& folder) const override { return folder.substr(folder.find('/') + 1); }
  std::string take_page(const std::string& text, const GetHeader&, const TakeName& take) const override {
    if (text.find("<EnumerationResults") == text.npos)
      refuse("expected a listing in XML (EnumerationResults), got ", text.size(), " bytes of something else");
    for (const char* kind : {"Blob", "BlobPrefix"})
      each_element(text, kind, [&](std::string_view each) { take(element_text(each, "Name")); });
    return element_text(text, "NextMarker");
  }
  std::string endpoint(const Settings& settings) const override { return base_of(settings); }

 private:
  static std::string account_of(const Settings& settings) {
    return settings.account ? *settings.account
                            : environment({"AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"}).value_or("");
  }
  static std::string base_of(const Settings& settings) {
    std::string base = settings.endpoint.value_or(str("https://", account_of(settings), ".blob.core.windows.net"));
    while (base.ends_with('/')) base.pop_back();
    return base;
  }

  static HttpQuestion question(const HttpPart& part, const Query& query, const Settings& settings) {
    const std::string account = account_of(settings);
    if (account.empty() && !settings.endpoint)
      value_error(
          "the name of the Azure account is not known: set AZURE_STORAGE_ACCOUNT_NAME, or pass account= to "
          "avida.storage.configure(\"az://...\")");
    const std::string base = base_of(settings);
    const std::string encoded = '/' + percent_encoded(part.name, true);
    HttpQuestion asked{str(base, encoded, query_text(query))};
    asked.take_credentials(settings);
    const std::string date = http_date();
    if (asked.credentials.key == "sas") {  // a signed query
      asked.url += str(query.empty() ? '?' : '&', asked.credentials.token);
    } else if (!asked.credentials.token.empty()) {
      asked.headers = {"x-ms-version: " + std::string(kVersion), "Authorization: Bearer " + asked.credentials.token};
    } else if (!asked.credentials.secret.empty()) {
      const size_t host_end = base.find('/', base.find("://") + 3);
      std::string resource = str('/', account, host_end == base.npos ? "" : base.substr(host_end), encoded);
      Query sorted = query;
      std::ranges::sort(sorted);
      for (auto& [name, value] : sorted) resource += str('\n', name, ':', value);
      // Eleven headers of the protocol are signed, of which If-Match and Range may be there.
      const std::string text = str("GET\n\n\n\n\n\n\n\n", part.match, "\n\n\n", part.range, "\nx-ms-date:", date,
                                   "\nx-ms-version:", kVersion, '\n', resource);
      asked.headers = {str("x-ms-date: ", date), str("x-ms-version: ", kVersion),
                       str("Authorization: SharedKey ", account, ':',
                           base64(hmac_sha256(base64_decoded(asked.credentials.secret), text)))};
    }
    return asked;
  }
};

[[maybe_unused]] const int registered = [] {
  register_store("az", std::make_shared<AzureStore>());
  return 0;
}();

}  // namespace
}  // namespace avida::storage
