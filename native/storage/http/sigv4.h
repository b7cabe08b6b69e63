// Signatures of requests to S3: AWS Signature Version 4, and the hashes that it and Azure need.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/http/settings.h"

namespace avida::storage {

std::string sha256_hex(std::string_view text);
std::string hmac_sha256(std::string_view key, std::string_view text);  // 32 bytes
std::string base64(std::string_view bytes);
std::string base64_decoded(std::string_view text);  // throws

// The headers of a signed GET of `path` (encoded) with a query (names and values, not encoded) at a host. `time` is
// that of the signature, in seconds since 1970.
std::vector<std::string> signed_headers(const Credentials& credentials, std::string_view region, std::string_view host,
                                        std::string_view path, std::vector<std::pair<std::string, std::string>> query,
                                        int64_t time);

// "?a=b&c=d", encoded and sorted as signatures want it; empty without names.
std::string query_text(std::vector<std::pair<std::string, std::string>> query);

}  // namespace avida::storage
