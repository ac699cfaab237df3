import Foundation

/// An HTTPS request to the server of a connected project.
public struct RemoteRequest: Sendable {
  package let url: String
  /// The header fields, among them `Authorization`.
  package let fields: [(name: String, value: String)]
  /// GET, POST, or PATCH.
  package let method: String
  /// The body; nil for GET.
  package let body: [UInt8]?
}

/// The response to a ``RemoteRequest``, whatever its status.
public struct RemoteResponse: Sendable {
  let status: Int
  let date: String?
  let retryAfter: String?
  let body: [UInt8]

  package init(status: Int, date: String? = nil, retryAfter: String? = nil, body: [UInt8]) {
    (self.status, self.date, self.retryAfter, self.body) = (status, date, retryAfter, body)
  }

  /// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7), in seconds since
  /// 1970; nil for anything else.
  static func seconds(of date: String) -> Int64? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.date(from: date).map { Int64($0.timeIntervalSince1970) }
  }
}

/// What sends requests to the server of a connected project.
public protocol RemoteTransport: Sendable {
  /// Sends a request and returns the response, of at most 16 MiB and whatever its status; doesn't
  /// follow redirects.
  ///
  /// - Throws: ``RemoteFault`` whose cause is that there's no response.
  func send(_ request: RemoteRequest) async throws(RemoteFault) -> RemoteResponse
}
