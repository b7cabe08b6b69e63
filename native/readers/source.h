// Source: one data set in one format; how many samples there are, and how each is opened and read.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/data.h"

namespace avida {

class Source {
 public:
  // An opened sample: its shapes are known, its elements are not read yet. So a whole batch is laid out in one block
  // first, and every sample is read directly into it.
  class Sample {
   public:
    virtual ~Sample() = default;
    virtual Shape shape(int output) const = 0;
    virtual void read(int output, void* to) = 0;
  };

  virtual ~Source() = default;

  virtual const char* name() const = 0;  // of the reader, for messages
  virtual int64_t size() const = 0;
  // Type, rank and layout of each output.
  virtual const std::vector<Meta>& outputs() const = 0;
  // Whether reading a sample takes so long that the samples of a batch are read by several threads.
  virtual bool takes_long() const { return false; }
  // Called before the samples of a batch are read, with those of one list by one thread, in this order: their
  // positions. Here each is alone.
  virtual std::vector<std::vector<size_t>> arrange(std::span<Sample* const> samples) const {
    std::vector<std::vector<size_t>> lists;
    for (size_t i = 0; i < samples.size(); i++) lists.push_back({i});
    return lists;
  }
  // Both are thread-safe, and throw Error.
  virtual std::unique_ptr<Sample> open(int64_t index) const = 0;
  virtual std::string describe(int64_t index) const = 0;
};

}  // namespace avida
