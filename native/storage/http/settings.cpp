#include "storage/http/settings.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <utility>

namespace avida::storage {
namespace {

constexpr double kBeforehand = 120;  // seconds by which credentials are renewed before they expire

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

template <class T>
void take_over(T& setting, const T& given) {
  if (given) setting = given;
}

class Configured {
 public:
  void set(const std::string& prefix, Settings settings) {
    std::lock_guard lock(mutex_);
    std::swap(settings_[prefix], settings);
  }
  Settings of(const std::string& name) {
    Settings found;
    std::lock_guard lock(mutex_);
    for (auto& [prefix, given] : settings_) {  // shorter ones first
      if (!name.starts_with(prefix)) continue;
      take_over(found.endpoint, given.endpoint);
      take_over(found.region, given.region);
      take_over(found.account, given.account);
      take_over(found.certificates, given.certificates);
      take_over(found.path_style, given.path_style);
      take_over(found.anonymous, given.anonymous);
      take_over(found.timeout, given.timeout);
      take_over(found.connect_timeout, given.connect_timeout);
      take_over(found.deadline, given.deadline);
      take_over(found.requests, given.requests);
      take_over(found.credentials, given.credentials);
    }
    return found;
  }
  static Configured& instance() { return *instance_; }

 private:
  static Configured* const instance_;
  ForkSafe<> mutex_{ForkAware::Rank::reader};
  std::map<std::string, Settings> settings_;
};

Configured* const Configured::instance_ = new Configured;

}  // namespace

Credentials CredentialSource::get() {
  {
    std::lock_guard lock(mutex_);
    if (last_ && (last_->expires == 0 || now() < renewal_)) return *last_;
  }
  Credentials made = provider_();  // without the lock, since it may wait for Python
  std::lock_guard lock(mutex_);
  last_ = made;
  renewal_ = made.expires - std::min(kBeforehand, (made.expires - now()) / 2);
  return made;
}

void CredentialSource::refuse(const Credentials& refused) {
  std::lock_guard lock(mutex_);
  if (last_ && last_->key == refused.key && last_->token == refused.token) last_.reset();
}

void configure(const std::string& prefix, Settings settings) {
  Configured::instance().set(prefix, std::move(settings));
}

Settings settings_of(const std::string& name) { return Configured::instance().of(name); }

std::optional<std::string> environment(std::initializer_list<const char*> variables) {
  for (const char* variable : variables)
    if (const char* value = std::getenv(variable); value && *value) return value;
  return {};
}

// By distribution: a wheel's TLS library does not know where they are.
std::string system_certificates() {
  if (const auto file = environment({"SSL_CERT_FILE"})) return *file;
  for (const char* file :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (access(file, R_OK) == 0) return file;
  return {};
}

}  // namespace avida::storage
