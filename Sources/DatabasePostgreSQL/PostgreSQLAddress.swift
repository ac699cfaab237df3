import Glibc

/// The address of a PostgreSQL database.
///
/// ```
/// postgresql://countersign@db.example.com:5432/countersign?sslrootcert=/etc/ssl/db.pem
/// postgresql://countersign@db1.example.com,db2.example.com/countersign
/// postgresql:///countersign?host=/run/postgresql
/// ```
///
/// Of several servers, one accepts writes; after a failover, it's another one.
///
/// It never has a password: that's in a file. A connection to another machine uses TLS, and the
/// server's certificate must be valid for its name, unless the address says otherwise.
public struct PostgreSQLAddress: Sendable, Equatable {
  /// The reason a text isn't an address.
  public enum Malformed: Error, Sendable, Equatable {
    /// It doesn't begin with `postgresql://`.
    case scheme
    /// It has a password, which everyone who sees the command line could read.
    case password
    /// It has no name of a database, or more than a name.
    case database
    /// The host isn't a name, an IP address, or the absolute path of a folder.
    case host
    /// The port isn't a number from 1 to 65535.
    case port
    /// The user or a value has an invalid percent-encoding, or a control character.
    case encoding
    /// A parameter isn't known; its name.
    case parameter(String)
    /// A parameter is there twice; its name.
    case repeated(String)
    /// A parameter has a value that it can't have; its name.
    case value(String)
  }

  /// How TLS is used.
  public enum TLS: String, Sendable, CaseIterable {
    /// No TLS.
    case disable
    /// TLS, with any certificate.
    case require
    /// TLS, with a certificate of a trusted authority.
    case verifyCA = "verify-ca"
    /// TLS, with a certificate of a trusted authority for the host's name.
    case verifyFull = "verify-full"
  }

  /// Where a server listens.
  public struct Server: Sendable, Equatable {
    /// The name or IP address of the host, or the folder of the Unix socket.
    public internal(set) var host = "localhost"
    /// The port; also part of the name of a Unix socket.
    public internal(set) var port = 5432

    /// Whether it's on this machine: a Unix socket or a loopback address.
    public var isLocal: Bool {
      host.hasPrefix("/") || host == "localhost" || host == "::1"
        || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
  }

  /// The user; nil for the name of the process's user.
  public private(set) var user: String?
  /// The servers, of which one accepts writes, in the order in which they're tried: 1 to 8.
  public private(set) var servers = [Server()]
  /// The name of the database.
  public private(set) var database = ""
  /// The use of TLS; by default, none if all servers are on this machine.
  public private(set) var tls = TLS.verifyFull
  /// The other parameters, by their names in libpq.
  public private(set) var parameters: [String: String] = [:]

  /// The parameters that are passed to libpq, apart from `host` and `sslmode`.
  static let knownParameters: Set = [
    "application_name", "passfile", "sslcert", "sslcrl", "sslkey", "sslrootcert",
    "target_session_attrs",
  ]

  /// The file with the certificates of Debian's trusted authorities.
  private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

  /// Parses an address.
  ///
  /// - Parameter text: `postgresql://[user@][host][:port]/database[?parameter=value&…]`, with
  ///   percent-encoding, and with commas between several hosts. The parameters are `host`, for the
  ///   folder of a Unix socket, `sslmode` (`disable`, `require`, `verify-ca`, or `verify-full`),
  ///   and those that libpq defines: `application_name`, `passfile`, `sslcert`, `sslcrl`,
  ///   `sslkey`, `sslrootcert`, and `target_session_attrs`.
  /// - Throws: ``Malformed``.
  public init(_ text: String) throws(Malformed) {
    guard let scheme = ["postgresql://", "postgres://"].first(where: text.hasPrefix) else {
      throw .scheme
    }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }), !text.utf8.contains(0x23) else {
      throw .encoding
    }
    let parts = text.dropFirst(scheme.count).split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let slash = parts[0].firstIndex(of: "/") else { throw .database }
    try readAuthority(parts[0][..<slash])
    database = try Self.decoded(parts[0][parts[0].index(after: slash)...])
    guard !database.isEmpty, !database.contains("/") else { throw .database }
    if parts.count == 2 { try readParameters(parts[1]) }
    if parameters["sslmode"] == nil {
      tls = servers.allSatisfy(\.isLocal) ? .disable : .verifyFull
    }
    parameters["sslmode"] = nil
    // The others are standbys, which can't store anything.
    if servers.count > 1, parameters["target_session_attrs"] == nil {
      parameters["target_session_attrs"] = "read-write"
    }
  }

  private mutating func readAuthority(_ text: Substring) throws(Malformed) {
    var rest = text
    if let at = rest.lastIndex(of: "@") {
      guard !rest[..<at].contains(":") else { throw .password }
      let name = try Self.decoded(rest[..<at])
      guard !name.isEmpty else { throw .encoding }
      user = name
      rest = rest[rest.index(after: at)...]
    }
    let list = rest.split(separator: ",", omittingEmptySubsequences: false)
    guard list.count <= 8 else { throw .host }
    servers = []
    for text in list { servers.append(try Self.server(text, isOnly: list.count == 1)) }
  }

  private static func server(_ text: Substring, isOnly: Bool) throws(Malformed) -> Server {
    var server = Server()
    var (name, rest) = (text, text)
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { throw .host }
      name = text[text.index(after: text.startIndex)..<end]
      guard name.contains(":"), name.allSatisfy({ $0.isHexDigit || ":.".contains($0) })
      else { throw .host }
      rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { throw .host }
    } else {
      name = text.prefix { $0 != ":" }
      rest = text[name.endIndex...]
    }
    guard isOnly || !name.isEmpty else { throw .host }
    if !name.isEmpty { server.host = try host(decoded(name)) }
    guard !rest.isEmpty else { return server }
    guard let number = Int(rest.dropFirst()), (1...65535).contains(number),
      rest.dropFirst().allSatisfy(\.isNumber)
    else { throw .port }
    server.port = number
    return server
  }

  private static func host(_ name: String) throws(Malformed) -> String {
    let isFolder = name.hasPrefix("/")
    let isName = name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20)
        || "-._:".utf8.contains(byte)
    }
    guard !name.isEmpty, isFolder ? !name.contains(",") : isName else { throw .host }
    return name
  }

  private mutating func readParameters(_ text: Substring) throws(Malformed) {
    var names: Set<String> = []
    for pair in text.split(separator: "&", omittingEmptySubsequences: false) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(parts[0])
      guard names.insert(name).inserted else { throw .repeated(name) }
      guard name != "password" else { throw .password }
      let value = parts.count == 2 ? try Self.decoded(parts[1]) : ""
      guard !value.isEmpty else {
        throw Self.knownParameters.union(["host", "sslmode"]).contains(name)
          ? .value(name) : .parameter(name)
      }
      switch name {
      case "host":
        guard value.hasPrefix("/"), servers.count == 1, servers[0].host == "localhost" else {
          throw .value(name)
        }
        servers[0].host = try Self.host(value)
      case "sslmode":
        guard let mode = TLS(rawValue: value) else { throw .value(name) }
        tls = mode
        parameters[name] = value
      case "target_session_attrs":
        guard ["any", "read-write", "primary"].contains(value) else { throw .value(name) }
        parameters[name] = value
      default:
        guard Self.knownParameters.contains(name) else { throw .parameter(name) }
        parameters[name] = value
      }
    }
  }

  private static func decoded(_ text: Substring) throws(Malformed) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
      else { throw .encoding }
      bytes.append(high << 4 | low)
    }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }),
      let decoded = String(validating: bytes, as: UTF8.self)
    else { throw .encoding }
    return decoded
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
  }

  func settings(for server: Server) -> [(String, String)] {
    var settings = [
      ("host", server.host), ("port", String(server.port)), ("dbname", database),
    ]
    if let user { settings.append(("user", user)) }
    settings.append(("sslmode", server.host.hasPrefix("/") ? "disable" : tls.rawValue))
    settings += parameters.sorted { $0.key < $1.key }
    if parameters["application_name"] == nil {
      settings.append(("application_name", "countersign"))
    }
    if parameters["sslrootcert"] == nil, tls == .verifyCA || tls == .verifyFull,
      unsafe access(Self.systemAuthorities, R_OK) == 0
    {
      settings.append(("sslrootcert", Self.systemAuthorities))
    }
    return settings
  }
}

extension PostgreSQLAddress: CustomStringConvertible {
  /// The address, without its parameters.
  public var description: String {
    let places = servers.map { server in
      let host = server.host.contains(":") ? "[\(server.host)]" : server.host
      return "\(host):\(server.port)"
    }
    let user = user.map { "\($0)@" } ?? ""
    return "postgresql://\(user)\(places.joined(separator: ","))/\(database)"
  }
}

enum HostLookup {
  struct NotFound: Error {
    let reason: String
  }

  /// Returns the IP addresses of a host, at least one, in the order in which they should be tried;
  /// nil for the folder of a Unix socket.
  static func ips(of host: String) throws(NotFound) -> [String?] {
    guard !host.hasPrefix("/") else { return [nil] }
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, nil, &hints, &found)
    guard code == 0 else {
      let reason = unsafe String(cString: gai_strerror(code))
      throw NotFound(reason: "could not translate host name \"\(host)\" to address: \(reason)")
    }
    defer { unsafe freeaddrinfo(found) }
    var ips: [String?] = []
    var next = unsafe found
    while let info = unsafe next {
      if let ip = unsafe text(of: info.pointee), !ips.contains(ip) { ips.append(ip) }
      unsafe next = info.pointee.ai_next
    }
    guard !ips.isEmpty else { throw NotFound(reason: "host \"\(host)\" has no address") }
    return ips
  }

  private static func text(of info: addrinfo) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let code = unsafe getnameinfo(
      info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard code == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
