#include "storage/http/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <mutex>

#include "core/error.h"
#include "runtime/fork.h"
#include "storage/http/http_store.h"

namespace avida::storage {
namespace {

constexpr size_t kHash = 32;  // bytes of SHA-256
const std::string kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// OpenSSL has locks that no child may find taken.
ForkSafe<>* const hashing = new ForkSafe<>(ForkAware::Rank::reader);

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string hex(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) text += {kDigits[static_cast<uint8_t>(c) >> 4], kDigits[static_cast<uint8_t>(c) & 15]};
  return text;
}

std::string formatted(int64_t time, const char* format) {
  const time_t seconds = time;
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace

std::string sha256_hex(std::string_view text) {
  std::lock_guard lock(*hashing);
  std::string hash(kHash, '\0');
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(hash.data()), &size, EVP_sha256(), nullptr);
  return hex(hash);
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::lock_guard lock(*hashing);
  std::string hash(kHash, '\0');
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(),
       reinterpret_cast<unsigned char*>(hash.data()), &size);
  return hash;
}

std::string base64(std::string_view bytes) {
  std::string text(4 * (bytes.size() / 3 + 1) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

std::string base64_decoded(std::string_view text) {
  std::string bytes(3 * (text.size() / 4 + 1), '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), bytes_of(text), static_cast<int>(text.size()));
  if (size < 0) value_error("expected an account key in base64");
  const auto padding = static_cast<size_t>(std::ranges::count(text, '='));
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

std::string query_text(std::vector<std::pair<std::string, std::string>> query) {
  for (auto& [name, value] : query) {
    name = percent_encoded(name, false);
    value = percent_encoded(value, false);
  }
  std::ranges::sort(query);
  std::string text;
  for (auto& [name, value] : query) text += str(text.empty() ? "?" : "&", name, '=', value);
  return text;
}

std::vector<std::string> signed_headers(const Credentials& credentials, std::string_view region, std::string_view host,
                                        std::string_view path, std::vector<std::pair<std::string, std::string>> query,
                                        int64_t time) {
  const std::string now = formatted(time, "%Y%m%dT%H%M%SZ"), day = now.substr(0, 8);
  std::string canonical = query_text(std::move(query));
  if (!canonical.empty()) canonical.erase(0, 1);
  std::string names = "host;x-amz-content-sha256;x-amz-date";
  std::string values = str("host:", host, "\nx-amz-content-sha256:", kEmptyHash, "\nx-amz-date:", now, '\n');
  if (!credentials.token.empty()) {
    names += ";x-amz-security-token";
    values += str("x-amz-security-token:", credentials.token, '\n');
  }
  const std::string request = str("GET\n", path, '\n', canonical, '\n', values, '\n', names, '\n', kEmptyHash);
  const std::string scope = str(day, '/', region, "/s3/aws4_request");
  const std::string to_sign = str("AWS4-HMAC-SHA256\n", now, '\n', scope, '\n', sha256_hex(request));
  std::string key = "AWS4" + credentials.secret;
  for (const std::string_view part :
       {std::string_view(day), region, std::string_view("s3"), std::string_view("aws4_request")})
    key = hmac_sha256(key, part);
  std::vector<std::string> headers = {"x-amz-content-sha256: " + kEmptyHash, "x-amz-date: " + now,
                                      str("Authorization: AWS4-HMAC-SHA256 Credential=", credentials.key, '/', scope,
                                          ", SignedHeaders=", names, ", Signature=", hex(hmac_sha256(key, to_sign)))};
  if (!credentials.token.empty()) headers.push_back("x-amz-security-token: " + credentials.token);
  return headers;
}

}  // namespace avida::storage
