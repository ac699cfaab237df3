/// The IP address of a client, and who vouches for it.
public struct ClientAddress: Sendable, Equatable {
  public let text: String
  /// Whether a backend forwarded it, which may send any address; otherwise it was seen on the
  /// connection, or a trusted proxy sent it.
  public let isForwarded: Bool

  public init(seen text: String) { (self.text, isForwarded) = (text, false) }

  public init(forwarded text: String) { (self.text, isForwarded) = (text, true) }

  var network: String { Network.name(of: text) }

  /// The network, for the counters of calls of a pool: the backends of a pool vouch for the addresses
  /// that they forward in this pool only.
  func network(in pool: Int64) -> String { isForwarded ? "\(pool) \(network)" : network }
}

extension ClientAddress: ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(seen: text) }
}
