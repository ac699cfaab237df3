import Database
@testable import Identity
import IdentityToolkitClient

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
    UseCase("request a change elsewhere", [.changeRequest]) { i in
      let (pool, agent) = try await i.changeable()
      return {
        _ = try await i.identity.support.disable(pool, ID("a"), agent.request(.left))
      }
    },
    UseCase("change a user elsewhere", [.accountChange], spendsTicket: true) { i in
      let change = try await i.requested()
      return { try await i.identity.connections.carryOut(change) }
    },
    UseCase("have a change elsewhere refused", [.changeRefuse], spendsTicket: true) { i in
      let change = try await i.requested()
      i.remote.behavior.faults = ["accounts:update": .error(403, "no")]
      return { try await i.identity.connections.carryOut(change) }
    },
    UseCase("lose the answer to a change elsewhere", [.changeUnknown], spendsTicket: true) { i in
      let change = try await i.requested()
      i.remote.behavior.faults = ["accounts:update": RemoteResponse(status: 502, body: [])]
      return { try await i.identity.connections.carryOut(change) }
    },
    UseCase("don't send a change elsewhere", [.changeLapse]) { i in
      _ = try await i.requested()
      i.clock.advance(90)
      return { try await i.identity.connections.finishChanges() }
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
  /// A connected pool with a user who can be changed there, and who may.
  fileprivate func changeable() async throws -> (Pool, Agent) {
    remote.set(TestRemote.user("a"))
    let pool = try await connect(access: .support)
    try await sync(pool)
    clock.advance(10)
    return (pool, try await agent("olga", role: .owner))
  }

  /// A change that was requested, by its number.
  fileprivate func requested() async throws -> Int64 {
    let (pool, agent) = try await changeable()
    let outcome = try await identity.support.disable(pool, ID("a"), agent.request(.left))
    guard case .requested(let change) = outcome.value else { throw Failure("not requested") }
    clock.advance(1)
    return change
  }

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
