import CCurl
import Glibc
import Network
import Synchronization

// Global functions without actor isolation, since libcurl calls them on the thread of the transfer.

private func exchange(_ context: UnsafeMutableRawPointer) -> HTTPExchange {
  unsafe Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue()
}

private func bytes(_ buffer: UnsafeMutablePointer<CChar>, _ count: Int) -> [UInt8] {
  unsafe Array(UnsafeRawBufferPointer(start: buffer, count: count))
}

func httpHeader(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context, let buffer = unsafe buffer else { return 0 }
  let line = unsafe bytes(buffer, size * count)
  return unsafe exchange(context).receive(header: line) ? line.count : 0
}

func httpBody(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  guard let buffer = unsafe buffer, size * count > 0 else { return 0 }
  let part = unsafe bytes(buffer, size * count)
  return unsafe exchange(context).receive(body: part) ? part.count : 0
}

/// Aborts a canceled transfer by returning a nonzero value.
func httpProgress(
  _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  return unsafe exchange(context).isCanceled.load(ordering: .relaxed) ? 1 : 0
}

/// Opens the socket for an address, if the client may connect to it.
func httpOpenSocket(
  _ context: UnsafeMutableRawPointer?, _: curlsocktype,
  _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  guard let context = unsafe context, let address = unsafe address,
    let field = MemoryLayout<curl_sockaddr>.offset(of: \.addr)
  else { return CURL_SOCKET_BAD }
  // The address may be longer than the type of the field.
  let place = unsafe UnsafeRawPointer(address).advanced(by: field)
  let network = unsafe NetworkAddress(place.assumingMemoryBound(to: sockaddr.self))
  guard unsafe exchange(context).allows(network) else { return CURL_SOCKET_BAD }
  return unsafe http_open_socket(address)
}
