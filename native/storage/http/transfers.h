// Requests over HTTP, many at a time: libcurl's multi interface, on a thread of its own.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/data.h"

namespace avida::storage {

// One try of a request, and its answer. The thread that asked owns it again once it is done.
struct Transfer {
  static constexpr int64_t kAll = -1;
  static constexpr int64_t kMostOfOne = int64_t{1} << 40;

  std::string url;
  std::vector<std::string> headers;  // "Name: value"; Authorization is sent to this host alone
  bool redirects = false;            // to where the server says, without Authorization
  int64_t offset = 0, bytes = kAll;  // the range
  double silence = 30,
         connecting = 10;     // after so many seconds without a byte, and without a connection, it has failed
  std::string certificates;   // a file of those that are trusted; empty: those of the system
  int64_t most = kMostOfOne;  // bytes that it may have: the server may lie, or never end

  int status = 0;                                       // of HTTP; 0: there is no answer
  std::map<std::string, std::string> answered_headers;  // names in lower case
  Block data;
  int64_t received = 0;   // bytes
  std::string text;       // the beginning of an answer that is not data
  std::string trouble;    // why there is no whole answer; empty if there is one
  bool may_pass = false;  // the trouble is one of the network, and may pass
  bool is_cut = false;    // the server had more than the range

  bool is_data() const { return status == 200 || status == 206; }

  // The value of the header that asks for the range; empty: everything.
  static std::string range_text(int64_t offset, int64_t bytes);
  int64_t object_size() const;  // as the answer has it; -1 if it does not say
  std::string header(const std::string& name) const;
};

struct TransferResults;

// The transfers of one call. They are cancelled where it ends before they are done.
class TransferGroup {
 public:
  TransferGroup();
  ~TransferGroup();
  TransferGroup(const TransferGroup&) = delete;

  void start(std::unique_ptr<Transfer> transfer, size_t tag);
  struct Done {
    std::unique_ptr<Transfer> transfer;
    size_t tag;
  };
  // Those that are done by then, at least one unless the time is over. Throws what interrupts the thread.
  std::vector<Done> wait(std::chrono::steady_clock::time_point latest);

 private:
  const std::shared_ptr<TransferResults> results_;
  const int forks_;
  std::chrono::steady_clock::time_point checked_ = std::chrono::steady_clock::now();  // for interrupts
};

}  // namespace avida::storage
