import CZlib

/// Compresses to gzip (RFC 1952) at zlib's best level; returns nil when it fails.
func gzip(_ bytes: [UInt8]) -> [UInt8]? {
  var stream = unsafe z_stream()
  let gzipWindow: Int32 = 15 + 16
  let structure = Int32(unsafe MemoryLayout<z_stream>.size)
  guard
    unsafe deflateInit2_(
      &stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzipWindow, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      structure) == Z_OK
  else { return nil }
  defer { unsafe deflateEnd(&stream) }
  var input = bytes
  var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, UInt(bytes.count))))
  let capacity = output.count
  let state = unsafe input.withUnsafeMutableBufferPointer { input in
    unsafe output.withUnsafeMutableBufferPointer { output in
      unsafe stream.next_in = input.baseAddress
      unsafe stream.avail_in = UInt32(input.count)
      unsafe stream.next_out = output.baseAddress
      unsafe stream.avail_out = UInt32(capacity)
      return unsafe deflate(&stream, Z_FINISH)
    }
  }
  guard state == Z_STREAM_END else { return nil }
  return unsafe Array(output.prefix(capacity - Int(stream.avail_out)))
}
