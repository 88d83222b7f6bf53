// gzip (RFC 1952) by zlib; the magic number tells, not the file's name.
#include <zlib.h>

#include <array>

#include "io/text_file.h"
#include "kernelcast/error.h"
#include "validate/inputs.h"

namespace kernelcast::validate {
namespace {

std::string inflated(const std::string& path, const std::string& compressed, std::size_t most_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw LimitError(path + ": zlib cannot start");  // 16: gzip's header
  // zlib's interface is not const-correct before 1.2.5.2's ZLIB_CONST; it does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string text;
  std::array<char, 1U << 16U> buffer;
  int status = Z_OK;
  while (status == Z_OK && text.size() <= most_bytes) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (text.size() > most_bytes)
    throw UserError(path + ": more than " + std::to_string(most_bytes >> 20U) +
                    " MiB after decompression; split the file");
  if (status != Z_STREAM_END) throw UserError(path + ": the compressed data are damaged or cut off");
  return text;
}

}  // namespace

std::string plain_or_inflated(const std::string& path, std::string text, std::size_t most_bytes) {
  return text.starts_with("\x1f\x8b") ? inflated(path, text, most_bytes) : text;
}

std::string read_plain_or_gzip(const std::string& path) {
  return plain_or_inflated(path, read_text_file(path, most_table_bytes), most_table_bytes);
}

}  // namespace kernelcast::validate
