#include "readers/blocks/block_order.h"

#include <algorithm>

#include "core/error.h"

namespace avida {
namespace {

constexpr size_t kMostKept = 4;  // parts: of two passes, and of two shards that a resumed run divides anew

// Tells the numbers that shuffle a window from those that shuffle blocks.
constexpr uint64_t kWindowKey = 0xB10C5;

// The last piece that begins at or before a position.
template <class Pieces>
auto piece_at(const Pieces& pieces, int64_t position) {
  return std::prev(std::ranges::upper_bound(pieces, position, {}, [](auto& piece) { return piece.begin; }));
}

}  // namespace

BlockOrder::BlockOrder(const std::vector<int64_t>& firsts, int64_t samples, int64_t window)
    : samples_(samples), window_(window) {
  if (window < 1) fail(ErrorKind::value, "expected a window of at least one block, got ", window);
  for (int64_t first : firsts) {
    if (firsts[0] != 0 || first < 0 || first > samples || (!firsts_.empty() && first < firsts_.back()))
      refuse("expected blocks whose first samples ascend from 0 to at most ", samples, ", got ", first);
    if (firsts_.empty() || first > firsts_.back()) firsts_.push_back(first);  // an empty block is none
  }
  if (!firsts_.empty() && firsts_.back() == samples) firsts_.pop_back();
  if (firsts_.empty()) refuse("expected at least one block with samples");
}

BlockOrder::Block BlockOrder::block_of(int64_t sample) const {
  const auto next = std::ranges::upper_bound(firsts_, sample);
  return {*std::prev(next), next == firsts_.end() ? samples_ : *next};
}

const BlockOrder::Dealt& BlockOrder::deal(const Part& part) const {
  if (dealt_ && dealt_->key == part.dealing_key && dealt_->dealing == part.dealing) return *dealt_;
  Dealt dealt{part.dealing_key, part.dealing, {}};
  const int64_t blocks = std::ssize(firsts_);
  dealt.blocks.reserve(firsts_.size());
  const Permutation order(blocks, part.dealing_key, static_cast<uint64_t>(part.dealing));
  int64_t at = 0;
  for (int64_t i = 0; i < blocks; i++) {
    const auto block = static_cast<size_t>(order(i));
    dealt.blocks.push_back({at, firsts_[block]});
    at += (block + 1 < firsts_.size() ? firsts_[block + 1] : samples_) - firsts_[block];
  }
  return dealt_.emplace(std::move(dealt));
}

BlockOrder::Pieces BlockOrder::arrange(const Part& part) const {
  const std::vector<Piece>& blocks = deal(part).blocks;
  const int64_t end = part.begin + part.size;
  Pieces cut;  // in the sequence
  for (auto block = piece_at(blocks, part.begin); block != blocks.end() && block->begin < end; block++) {
    const int64_t begin = std::max(block->begin, part.begin);
    cut.push_back({begin, block->first + begin - block->begin});
  }
  Pieces pieces;
  pieces.reserve(cut.size());
  const Permutation order(std::ssize(cut), part.seed, static_cast<uint64_t>(part.pass));
  int64_t at = 0;
  for (int64_t i = 0; i < std::ssize(cut); i++) {
    const auto k = static_cast<size_t>(order(i));
    pieces.push_back({at, cut[k].first});
    at += (k + 1 < cut.size() ? cut[k + 1].begin : end) - cut[k].begin;
  }
  return pieces;
}

std::shared_ptr<const BlockOrder::Pieces> BlockOrder::pieces_of(const Part& part) const {
  std::lock_guard lock(mutex_);
  auto found = std::ranges::find(newest_, part, [](auto& each) { return each.first; });
  if (found == newest_.end()) {
    newest_.emplace_front(part, std::make_shared<const Pieces>(arrange(part)));
    if (newest_.size() > kMostKept) newest_.pop_back();
  } else {
    newest_.splice(newest_.begin(), newest_, found);
  }
  return newest_.front().second;
}

BlockOrder::Samples::Samples(const BlockOrder& order, const Part& part)
    : blocks_in_window_(order.window_), part_(part), pieces_(order.pieces_of(part)) {}

int64_t BlockOrder::Samples::operator()(int64_t position) {
  if (position < begin_ || position >= end_) find_window(position);
  const int64_t shuffled = begin_ + (*shuffle_)(position - begin_);
  auto piece = piece_at(*pieces_, shuffled);
  return piece->first + shuffled - piece->begin;
}

void BlockOrder::Samples::find_window(int64_t position) {
  const int64_t number = (piece_at(*pieces_, position) - pieces_->begin()) / blocks_in_window_;
  const int64_t first = number * blocks_in_window_;
  begin_ = (*pieces_)[static_cast<size_t>(first)].begin;
  end_ = blocks_in_window_ < std::ssize(*pieces_) - first
             ? (*pieces_)[static_cast<size_t>(first + blocks_in_window_)].begin
             : part_.size;
  const PhiloxBlock draw =
      philox(part_.seed ^ kWindowKey, static_cast<uint64_t>(part_.pass), static_cast<uint64_t>(number));
  shuffle_.emplace(end_ - begin_, static_cast<uint64_t>(draw.word[1]) << 32 | draw.word[0], 0);
}

}  // namespace avida
