// How stores are reached: endpoints, credentials, limits of time. By the beginnings of names, from users and the
// environment.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/fork.h"

namespace avida::storage {

// All empty: requests are not signed. S3 has key and secret, and perhaps a token; Azure the secret of an account, a
// token, or a signed query as token with the key "sas"; the others a token.
struct Credentials {
  std::string key, secret, token;
  double expires = 0;  // in seconds since 1970; 0: never
};

// Gives credentials that are valid now. Thread-safe.
class CredentialSource {
 public:
  // The function may wait, and is called when those that it gave last are about to expire.
  using Provider = std::function<Credentials()>;
  explicit CredentialSource(Provider provider) : provider_(std::move(provider)) {}

  Credentials get();
  // Those that were given are refused by the server: the next ones are asked for anew.
  void refuse(const Credentials& refused);

 private:
  const Provider provider_;
  ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::optional<Credentials> last_;
  double renewal_ = 0;  // when they are asked for again, in seconds since 1970
};

// What is not set is that of a shorter prefix, of the environment, or the usual value.
struct Settings {
  std::optional<std::string> endpoint, region, account, certificates;
  std::optional<bool> path_style, anonymous;
  std::optional<double> timeout;          // seconds without a byte
  std::optional<double> connect_timeout;  // seconds
  std::optional<double> deadline;         // seconds for all tries of a request
  std::optional<int> requests;            // under way at a time
  std::shared_ptr<CredentialSource> credentials;
};

// For all names that begin like this, such as "s3://bucket". Replaces what was set for the same prefix.
void configure(const std::string& prefix, Settings settings);
// For a whole name, with what the longest prefixes set.
Settings settings_of(const std::string& name);

// The value of the first variable that is set, or nothing.
std::optional<std::string> environment(std::initializer_list<const char*> variables);

// The file of the certificates that the system trusts, or that SSL_CERT_FILE names; empty if there is none.
std::string system_certificates();

}  // namespace avida::storage
