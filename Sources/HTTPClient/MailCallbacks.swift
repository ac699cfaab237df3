import CCurl

// Global functions without actor isolation, since libcurl calls them on the sending thread.

func mailRead(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context, let buffer = unsafe buffer else { return 0 }
  let exchange = unsafe Unmanaged<MailExchange>.fromOpaque(context).takeUnretainedValue()
  guard !exchange.lacksUTF8 else { return Int(CURL_READFUNC_ABORT) }
  return exchange.take(size * count) { part in
    unsafe part.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(start: buffer, count: bytes.count).copyMemory(
        from: bytes)
    }
  }
}

func mailReply(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context, let buffer = unsafe buffer else { return 0 }
  let exchange = unsafe Unmanaged<MailExchange>.fromOpaque(context).takeUnretainedValue()
  let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: size * count)
  exchange.receive(unsafe Array(bytes))
  return size * count
}

/// Aborts a transfer after its deadline by returning a nonzero value.
func mailProgress(
  _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let exchange = unsafe Unmanaged<MailExchange>.fromOpaque(context).takeUnretainedValue()
  return exchange.isOver(at: MailTransport.now()) ? 1 : 0
}
