public struct ProviderRequest: Sendable {
  public let address: String
  public let fields: [(name: String, value: String)]
  /// The body of a POST request; nil for GET.
  public let body: [UInt8]?

  init(_ address: String, fields: [(name: String, value: String)] = [], body: [UInt8]? = nil) {
    (self.address, self.body) = (address, body)
    self.fields = [("Accept", "application/json")] + fields
  }
}

public struct ProviderResponse: Sendable {
  public let status: Int
  public let body: [UInt8]

  public init(status: Int, body: [UInt8]) { (self.status, self.body) = (status, body) }
}

public enum ProviderUnreachable: Error, Sendable, Equatable {
  /// The URL isn't one that this server connects to.
  case invalidAddress
  /// The diagnosis, in the words of the library that connects.
  case failed(String)
}

public protocol ProviderTransport: Sendable {
  /// Sends a request and returns the response, whatever its status; doesn't follow redirects.
  func send(_ request: ProviderRequest) async throws(ProviderUnreachable) -> ProviderResponse

  func accepts(_ address: String) -> Bool
}

/// The transport of processes that don't connect to the provider, such as the command line.
struct NoProviderTransport: ProviderTransport {
  func send(_ request: ProviderRequest) async throws(ProviderUnreachable) -> ProviderResponse {
    throw .failed("not connected")
  }

  func accepts(_ address: String) -> Bool { false }
}
