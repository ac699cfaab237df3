/// Where and how a server listens.
public struct ServerConfiguration: Sendable {
  /// A certificate with its key, in PEM files; TLS 1.2 and 1.3 are spoken.
  public struct TLS: Sendable {
    /// The path of the certificate, followed in its file by those of the authorities between.
    public var certificate: String
    /// The path of the private key.
    public var key: String

    /// Names the two files.
    public init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  /// The address or name to listen on, such as `127.0.0.1`, `::1` or `0.0.0.0`.
  public var host: String
  /// The port, 0 for any that is free.
  public var port: Int
  /// The number of threads that serve connections.
  public var threads: Int
  /// What a client may send, and how long it may take.
  public var limits: Limits
  /// The certificate, or nil to speak plain HTTP.
  public var tls: TLS?
  /// Addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.
  ///
  /// The limit of connections per network is not applied to them.
  public var trustedProxies: [AddressRange]

  /// Makes a configuration.
  ///
  /// - Parameters:
  ///   - host: The address or name to listen on.
  ///   - port: The port, 0 for any that is free.
  ///   - threads: The number of threads that serve, nil for one for each processor.
  ///   - limits: What a client may send, and how long it may take.
  ///   - tls: The certificate, or nil to speak plain HTTP.
  ///   - trustedProxies: Addresses of proxies that are believed.
  public init(
    host: String = "127.0.0.1", port: Int = 0, threads: Int? = nil, limits: Limits = Limits(),
    tls: TLS? = nil, trustedProxies: [AddressRange] = []
  ) {
    self.host = host
    self.port = port
    self.threads = max(threads ?? processorCount(), 1)
    self.limits = limits
    self.tls = tls
    self.trustedProxies = trustedProxies
  }
}

/// Why a server could not start.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The host names no address of this machine.
  case unknownHost(String)
  /// The address could not be listened on; the text is the system's.
  case cannotListen(host: String, port: Int, reason: String)
  /// A file could not be read; the text is the system's.
  case unreadableFile(path: String, reason: String)
  /// The engine took neither certificate nor key, or had no means to start.
  case cannotStart(reason: String)

  /// The reason in a sentence for people.
  public var description: String {
    switch self {
    case .unknownHost(let host): "There is no address named \(host) on this machine."
    case .cannotListen(let host, let port, let reason):
      "Cannot listen on \(host), port \(port): \(reason)."
    case .unreadableFile(let path, let reason): "Cannot read \(path): \(reason)."
    case .cannotStart(let reason): reason
    }
  }
}
