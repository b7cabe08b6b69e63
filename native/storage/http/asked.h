// A request over HTTP, and the tries that were made of it.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/http/http_store.h"
#include "storage/http/transfers.h"

namespace avida::storage {

struct Asked {
  using Clock = std::chrono::steady_clock;

  Request* request;
  std::string name;  // whole
  std::function<HttpQuestion(const Settings&)> ask;
  int64_t most;                                           // bytes of the answer
  std::function<void(const Transfer& answer)> done = {};  // called once the request has its data, or its error

  HttpQuestion question{};
  int tries = 0;
  bool renewed = false;  // the credentials
  Clock::time_point first{}, deadline{};
  std::string last{};  // what went wrong

  // The next try.
  std::unique_ptr<Transfer> transfer();
  // The seconds to wait before the next try; nothing if the answer is final.
  std::optional<double> judge(Transfer& answer, const HttpStore& store);
  void give_up();

 private:
  double pause() const;
  std::optional<double> fails(const std::string& why);
  std::optional<double> take(Transfer& answer, const HttpStore& store);
};

// One byte tells size and version.
inline int64_t bytes_asked(const Request& request) { return request.bytes == 0 ? 1 : request.bytes; }
// The version that the server itself compares: it does so with strong ETags alone.
inline std::string match_of(const Request& request) { return request.version.starts_with('"') ? request.version : ""; }

// What a server says of itself: it may send anything, and errors are printed.
std::string quoted(std::string_view text);

}  // namespace avida::storage
