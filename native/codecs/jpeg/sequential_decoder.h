// Decodes ordinary JPEG files, sequential or progressive, with the bits of libjpeg-turbo in less time.
#pragma once
#include <string_view>
#include <vector>

#include "codecs/jpeg/jpeg_header.h"

namespace avida::codecs {

// Returns false for a file that is unusual or broken, and for options that are: libjpeg-turbo has to decode it, and to
// report its errors. `out` may have been written to by then.
bool decode_ordinary(const JpegHeader& header, const DecodeOptions& options, const Roi& roi, const PixelRows& out);

// For tests: how many images, or parts of images, it has decoded in this process, how many threads have shared, and who
// may decode: "libjpeg-turbo" decodes everything; the other decoders are this one by the vectors of an instruction set,
// the best one first.
int64_t sequential_decodes();
int64_t shared_sequential_decodes();
std::vector<std::string_view> jpeg_decoders();
void use_jpeg_decoder(std::string_view name);
// For tests: threads share the data of every file in segments of so many bytes, idle or not. 0: as usual.
void split_jpeg_scans(int bytes);

}  // namespace avida::codecs
