import Glibc
import Host
public import Network

/// Where and how a server listens.
public struct ServerConfiguration: Sendable {
  /// A certificate and its private key in PEM files, for TLS 1.2 and 1.3.
  public struct TLS: Sendable {
    /// The path of the certificate, with intermediate certificates after it in the same file.
    public var certificate: String
    /// The path of the private key.
    public var key: String

    /// Creates a configuration from two paths.
    public init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  let host: String
  let port: Int
  let threads: Int
  let limits: Limits
  let tls: TLS?
  let trustedProxies: [AddressRange]

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - host: The address or name to listen on, such as `127.0.0.1`, `::1` or `0.0.0.0`.
  ///   - port: The port; 0 for any free port.
  ///   - threads: The number of threads that serve connections; nil for one per processor.
  ///   - limits: Limits on requests and connections.
  ///   - tls: The certificate; nil for plain HTTP.
  ///   - trustedProxies: Proxies whose `X-Forwarded-For`, `X-Forwarded-Proto`, and `X-Request-ID`
  ///     headers are trusted; they're exempt from the limit of connections per network.
  public init(
    host: String = "127.0.0.1", port: Int = 0, threads: Int? = nil, limits: Limits = Limits(),
    tls: TLS? = nil, trustedProxies: [AddressRange] = []
  ) {
    self.host = host
    self.port = port
    self.threads = max(threads ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1)
    self.limits = limits
    self.tls = tls
    self.trustedProxies = trustedProxies
  }
}

/// The reason a server couldn't start.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The host isn't an address of this machine.
  case unknownHost(String)
  /// Listening on the address failed; `reason` is the system's text. `isTemporary`, too, if another
  /// process uses the address, or no interface has it yet.
  case cannotListen(host: String, port: Int, reason: String, isTemporary: Bool)
  /// A file couldn't be opened or read; `reason` is the system's text.
  case unreadableFile(path: String, reason: String, isTemporary: Bool = false)
  /// The engine rejected the certificate or key, or lacked resources.
  case cannotStart(reason: String, isTemporary: Bool = false)

  /// A file that couldn't be opened or read.
  static func unreadable(_ path: String, _ error: SystemError) -> Self {
    .unreadableFile(path: path, reason: error.description, isTemporary: error.isTemporary)
  }

  /// A failure of the system, which is temporary if it lacks files, threads, or memory now.
  static func system(_ error: SystemError) -> Self {
    .cannotStart(
      reason: error.isTemporary
        ? "The system lacks resources: \(error)." : "The HTTP engine could not start: \(error).",
      isTemporary: error.isTemporary)
  }

  /// Whether another attempt can succeed, although nobody changes the configuration.
  public var isTemporary: Bool {
    switch self {
    case .cannotListen(_, _, _, let isTemporary), .unreadableFile(_, _, let isTemporary),
      .cannotStart(_, let isTemporary):
      isTemporary
    case .unknownHost: false
    }
  }

  /// A description for users.
  public var description: String {
    switch self {
    case .unknownHost(let host): "There is no address named \(host) on this machine."
    case .cannotListen(let host, let port, let reason, _):
      "Cannot listen on \(host), port \(port): \(reason)."
    case .unreadableFile(let path, let reason, _): "Cannot read \(path): \(reason)."
    case .cannotStart(let reason, _): reason
    }
  }
}
