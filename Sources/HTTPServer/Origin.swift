import HTTP

/// Where a request comes from, as far as trusted proxies tell.
struct Origin {
  let peer: String
  let isSecure: Bool

  init(of exchange: Exchange, _ configuration: ServerConfiguration) {
    let peer = exchange.connection.peer
    let proxies = configuration.trustedProxies
    guard !proxies.isEmpty, proxies.contains(peer) else {
      self.peer = peer
      isSecure = configuration.tls != nil
      return
    }
    let hops = exchange.fields.all(.xForwardedFor).flatMap { line in
      line.split(separator: ",").map { hop in String(hop.filter { $0 != " " && $0 != "\t" }) }
    }
    self.peer = hops.last { !proxies.contains($0) } ?? peer
    isSecure = exchange.fields[.xForwardedProto]?.lowercased() == "https"
  }
}
