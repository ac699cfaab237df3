import CCurl
import Glibc
import Network
import Synchronization

/// The response to a request, as it arrives.
///
/// It's used by one thread, that of the transfer; only ``isCanceled`` is shared.
// `@unchecked Sendable`, because:
// 1. the variables are used only by libcurl's callbacks, on the thread of the transfer, and by that
//    thread after the transfer;
// 2. everything else is constant or atomic.
final class HTTPExchange: @unchecked Sendable {
  private let limits: HTTPClient.Limits
  /// The addresses to connect to; nil for any.
  private let addresses: AddressPolicy?
  /// Whether the body may be cut off.
  private let isStatusEnough: Bool
  private var headerSize = 0
  private(set) var status = 0
  private(set) var fields: [String: String] = [:]
  private(set) var body: [UInt8] = []
  private(set) var isTooLarge = false
  private var isAnyAllowed = false
  private var isAnyRefused = false
  let isCanceled = Atomic(false)

  /// The maximum size of a body that may be cut off, in bytes.
  private static let longestExcerpt = 4_096

  init(_ limits: HTTPClient.Limits, _ addresses: AddressPolicy?, isStatusEnough: Bool = false) {
    (self.limits, self.addresses, self.isStatusEnough) = (limits, addresses, isStatusEnough)
  }

  /// Whether the request is answered, however the transfer ended.
  var isAnswered: Bool { isStatusEnough && status >= 200 }

  func allows(_ address: NetworkAddress?) -> Bool {
    guard let addresses else { return true }
    let isAllowed = address.map(addresses.allows) ?? false
    if isAllowed { isAnyAllowed = true } else { isAnyRefused = true }
    return isAllowed
  }

  /// Whether every address of the server was refused.
  var isRefused: Bool { isAnyRefused && !isAnyAllowed }

  /// Stores a line of the header; returns false when there are too many.
  func receive(header line: [UInt8]) -> Bool {
    headerSize += line.count
    guard headerSize <= limits.longestHeader else {
      isTooLarge = true
      return false
    }
    if line.starts(with: "HTTP/".utf8) {
      // An interim response such as 100 comes before the final one.
      fields = [:]
      let word = line.split(separator: UInt8(ascii: " ")).dropFirst().first ?? []
      status = Int(UInt16(String(decoding: word.prefix(3), as: UTF8.self)) ?? 0)
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")),
      // Names are ASCII (RFC 9110 section 5.1); others would be normalized as keys, which is
      // costly.
      line[..<colon].allSatisfy({ $0 < 0x80 })
    {
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = line[(colon + 1)...].filter { $0 != 13 && $0 != 10 }
      fields[name] = String(decoding: value, as: UTF8.self).trimmingSpaces()
    }
    return true
  }

  /// Stores a part of the body; returns false when it's too large.
  func receive(body part: [UInt8]) -> Bool {
    if isStatusEnough {
      body += part.prefix(Self.longestExcerpt - body.count)
      return body.count < Self.longestExcerpt
    }
    guard body.count + part.count <= limits.longestBody else {
      isTooLarge = true
      return false
    }
    body += part
    return true
  }
}

extension String {
  fileprivate func trimmingSpaces() -> String {
    let isSpace = { (byte: UInt8) in byte == 32 || byte == 9 }
    let head = utf8.drop(while: isSpace)
    let count = head.reversed().drop(while: isSpace).count
    return String(Substring(head.prefix(count)))
  }
}

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
