import Database
@testable import Identity

extension UseCase {
  /// Connections, and what's read of connected projects.
  static let connections: [UseCase] = [
    UseCase("connect a project", [.projectCreate, .connectionCreate]) { i in
      let new = try await i.newConnection()
      return { _ = try await i.identity.connections.add(new, by: Instance.program) }
    },
    UseCase("replace the credential of a connection", [.connectionChange]) { i in
      let pool = try await i.connect()
      let new = try await i.newConnection(token: "cst_second")
      return {
        _ = try await i.identity.connections.replace(in: pool, by: new, by: Instance.program)
      }
    },
    UseCase("pause a connection", [.connectionPause]) { i in
      let pool = try await i.connect()
      return { _ = try await i.identity.connections.pause(pool, by: Instance.program) }
    },
    UseCase("resume a connection", [.connectionResume]) { i in
      let pool = try await i.connect()
      _ = try await i.identity.connections.pause(pool, by: Instance.program)
      return { _ = try await i.identity.connections.resume(pool, by: Instance.program) }
    },
    UseCase("read a connected project now", []) { i in
      let pool = try await i.connect()
      return { _ = try await i.identity.connections.sync(pool, by: Instance.program) }
    },
    UseCase("accept that users are gone", [.connectionWalk]) { i in
      let pool = try await i.pausedByWalk()
      let walk = try await i.mirror(pool).walk
      return {
        _ = try await i.identity.connections.acceptGone(
          from: pool, of: pool, walk: walk, by: Instance.program)
      }
    },
    UseCase("disconnect a project", [.connectionEnd]) { i in
      let pool = try await i.connect()
      return { _ = try await i.identity.connections.end(pool, by: Instance.program) }
    },
    UseCase("mark users as gone", Array(repeating: .accountGone, count: 30)) { i in
      let pool = try await i.pausedByWalk()
      _ = try await i.identity.connections.acceptGone(
        from: pool, of: pool, walk: try await i.mirror(pool).walk, by: Instance.program)
      let known = try await i.connection(pool)
      let walk = Walk(
        store: i.identity.store, known: known,
        client: try await i.identity.connections.client(of: known),
        mirror: try await i.mirror(pool))
      return { try await walk.markGone() }
    },
    UseCase("read that a tenant is gone", [.tenantChange, .tenantGone]) { i in
      i.remote.behavior.tenants = ["east": TestRemote.tenant("east")]
      let pool = try await i.connect()
      try await i.sync(pool)
      i.remote.behavior.tenants = [:]
      i.clock.advance(301)
      let known = try await i.connection(pool)
      let client = try await i.identity.connections.client(of: known)
      return {
        try await RemotePolicies(store: i.identity.store, known: known, client: client).read()
      }
    },
  ]
}

extension Instance {
  /// A connected pool whose last walk didn't see 30 of 40 users.
  fileprivate func pausedByWalk() async throws -> Pool {
    for number in 0..<40 { remote.set(TestRemote.user("u\(100 + number)")) }
    let pool = try await connect()
    try await sync(pool)
    for number in 0..<30 { remote.remove("u\(100 + number)") }
    try await sync(pool)
    return pool
  }
}
