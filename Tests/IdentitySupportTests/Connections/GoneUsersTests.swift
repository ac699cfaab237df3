import Database
import IdentityToolkitClient
import JSON
import Synchronization
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

@Suite struct GoneUsersTests {
  /// A walk over users of whom some are no longer listed, and what the remote counts.
  struct Case: Sendable, CustomTestStringConvertible {
    let users: Int
    let gone: Int
    /// How many more the remote counts than it lists.
    var more = 0
    let pauses: Bool
    var testDescription: String { "\(gone) of \(users) gone, \(more) more counted" }
  }

  @Test(arguments: [
    Case(users: 30, gone: 20, pauses: false), Case(users: 30, gone: 21, pauses: true),
    Case(users: 20, gone: 20, pauses: false), Case(users: 15, gone: 15, more: 15, pauses: true),
    Case(users: 300, gone: 30, pauses: false),
    Case(users: 300, gone: 31, pauses: true), Case(users: 2_010, gone: 200, pauses: false),
    Case(users: 2_010, gone: 201, pauses: true),
    Case(users: 300, gone: 0, more: 20, pauses: false),
    Case(users: 300, gone: 0, more: 21, pauses: true),
    Case(users: 300, gone: 0, more: -21, pauses: true),
    Case(users: 4_400, gone: 0, more: 22, pauses: false),
    Case(users: 4_400, gone: 0, more: 23, pauses: true),
  ])
  func `few who are missing are gone, and for many the connection pauses`(
    _ this: Case
  ) async throws {
    try await withInstance { instance in
      let remote = instance.remote
      add(this.users, to: remote)
      let pool = try await instance.connect()
      try await instance.sync(pool)
      for number in 0..<this.gone { remote.remove(numbered(number)) }
      let left = remote.behavior.users[""]?.count ?? 0
      remote.behavior.count = left + this.more
      let cause = try await instance.sync(pool)
      let state = try await instance.connection(pool).state
      #expect(state == (this.pauses ? .paused : .working))
      #expect(cause == (this.pauses ? .walk : nil))
      let gone = try await instance.mirrored(pool).count { $0.goneAt != nil }
      #expect(gone == (this.pauses ? 0 : this.users - left))
      let counts = try await instance.identity.accounts.counts(pool)
      #expect(counts.users == (this.pauses ? this.users : left))
      let rows = try await instance.log(pool)
      #expect(rows.count { $0.action == .accountGone } == gone)
      guard this.pauses else { return }
      let pause = try #require(rows.first)
      #expect(pause.action == .connectionPause && pause.new(.stopReason) == .code("walk"))
      #expect(pause.new(.users) == .number(left))
      #expect(pause.new(.remoteUsers) == .number(left + this.more))
    }
  }

  /// The pages that a remote sent.
  private final class Pages: Sendable {
    private let sent = Mutex<[TestRemote.Page]>([])

    /// Adds a page; returns the first one, and how many there are.
    func add(_ page: TestRemote.Page) -> (first: TestRemote.Page, count: Int) {
      sent.withLock { sent in
        sent.append(page)
        return (sent[0], sent.count)
      }
    }
  }

  /// What a page of users is instead of the right one.
  enum Page: String, CaseIterable, Sendable {
    case empty, emptyLast, short, unsorted, repeated, endless
  }

  @Test(arguments: Page.allCases)
  func `nobody is gone because of a wrong page`(_ page: Page) async throws {
    try await withInstance { instance in
      let remote = instance.remote
      remote.behavior.pageSize = 10
      add(100, to: remote)
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let pages = Pages()
      remote.behavior.changePage = { sent in
        let (first, number) = pages.add(sent)
        switch page {
        case .empty: sent = TestRemote.Page(users: [])
        case .emptyLast: if sent.next == nil { sent = TestRemote.Page(users: []) }
        case .short: if number == 3 { sent = TestRemote.Page(users: Array(sent.users.prefix(2))) }
        case .unsorted: sent.users.reverse()
        case .repeated: sent = first
        case .endless: sent = TestRemote.Page(users: [], next: "more")
        }
      }
      let cause = try await instance.sync(pool)
      let isShort = page == .empty || page == .short
      let expected: ConnectionCause? = isShort ? .walk : .remote(.unreadable)
      #expect(cause == (page == .emptyLast ? nil : expected))
      #expect(try await instance.mirrored(pool).allSatisfy { $0.goneAt == nil })
      #expect(try await instance.identity.accounts.count(pool) == 100)
      // The next one begins anew.
      remote.behavior.changePage = nil
      if isShort {
        _ = try await instance.identity.connections.sync(pool, by: Instance.program)
      }
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).allSatisfy { $0.goneAt == nil })
    }
  }

  @Test func `an owner accepts that those are gone whom a walk didn't see, or keeps them`()
    async throws
  {
    try await withInstance { instance in
      let (remote, connections) = (instance.remote, instance.identity.connections)
      add(100, to: remote)
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let all = remote.behavior.users
      remote.behavior.users[""] = all[""]?.filter { $0.key < numbered(50) }
      try await instance.sync(pool)
      // Keeping them reads again, and nothing has changed there.
      _ = try await connections.sync(pool, by: Instance.program)
      #expect(try await instance.sync(pool) == .walk)
      #expect(try await instance.mirror(pool).isUndecided)
      let walk = try await instance.mirror(pool).walk
      await expect("otherWalk") {
        try await connections.acceptGone(from: pool, of: pool, walk: walk - 1, by: Instance.program)
      }
      _ = try await connections.acceptGone(from: pool, of: pool, walk: walk, by: Instance.program)
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).count { $0.goneAt != nil } == 50)
      #expect(try await instance.identity.accounts.count(pool) == 50)
      // All are back.
      remote.behavior.users = all
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).allSatisfy { $0.goneAt == nil })
      #expect(try await instance.identity.accounts.count(pool) == 100)
      let rows = try await instance.log(pool).filter { $0.action == .accountGone }
      #expect(rows.count == 100 && rows[0].new(.goneSince) == .absent)
    }
  }

  @Test func `a user who's gone is shown for 30 days, and can be erased`() async throws {
    try await withInstance { instance in
      let remote = instance.remote
      for name in ["a", "b", "c"] { remote.set(TestRemote.user(name, totp: true)) }
      let pool = try await instance.connect()
      try await instance.sync(pool)
      await expect("existsElsewhere") {
        try await instance.identity.userData.erase(pool, ID("a"), by: Instance.program)
      }
      remote.remove("a")
      remote.remove("b")
      try await instance.sync(pool)
      _ = try await instance.identity.userData.erase(pool, ID("a"), by: Instance.program)
      #expect(try await instance.mirrored(pool).map(\.id.text) == ["b", "c"])
      instance.clock.advance(30 * 86_400 - 1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.mirrored(pool).count == 2)
      instance.clock.advance(2)
      try await instance.identity.purgeExpired()
      #expect(try await instance.mirrored(pool).map(\.id.text) == ["c"])
      #expect(try await instance.identity.accounts.count(pool) == 1)
    }
  }

  @Test func `users of a disabled tenant stay as they were`() async throws {
    try await withInstance { instance in
      let remote = instance.remote
      remote.behavior.tenants = ["east": TestRemote.tenant("east")]
      remote.set(TestRemote.user("a"), in: "east")
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let east = try await instance.identity.pools.existing(
        project: pool.project, tenant: ID("east"))
      #expect(try await instance.mirrored(east).count == 1)
      // Disabled between the read of the tenants and that of the users.
      remote.behavior.faults["tenants/east/accounts"] = .error(400, "TENANT_DISABLED")
      let walkedAt = try await instance.mirror(east).walkedAt
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.connection(pool).state == .working)
      #expect(try await instance.mirrored(east).allSatisfy { $0.goneAt == nil })
      #expect(try await instance.mirror(east).walkedAt == walkedAt)
      remote.behavior.faults = [:]
      remote.behavior.tenants["east"] = TestRemote.tenant("east", isDisabled: true)
      try await instance.sync(pool)
      #expect(try await instance.mirror(east).state == .disabled)
      #expect(try await instance.mirrored(east).allSatisfy { $0.goneAt == nil })
      remote.behavior.tenants["east"] = TestRemote.tenant("east")
      try await instance.sync(pool)
      #expect(try await instance.mirror(east).state == .present)
      #expect(try await instance.mirror(east).walkedAt == instance.now)
    }
  }

  @Test func `only a complete walk that waits for an owner can be accepted`() async throws {
    try await withInstance { instance in
      let (remote, connections) = (instance.remote, instance.identity.connections)
      remote.behavior.tenants = ["east": TestRemote.tenant("east")]
      for number in 0..<50 {
        remote.set(TestRemote.user(numbered(number)))
        remote.set(TestRemote.user(numbered(number)), in: "east")
      }
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let east = try await instance.identity.pools.existing(
        project: pool.project, tenant: ID("east"))
      // The walk of the tenant ends early, and that of the project's own users pauses.
      remote.behavior.users = ["": [:], "east": [:]]
      remote.behavior.changePage = { page in
        remote.behavior.changePage = nil
        remote.behavior.faults["tenants/east/accounts:query"] = .error(400, "TENANT_DISABLED")
      }
      #expect(try await instance.sync(pool) == .walk)
      let (own, tenant) = (try await instance.mirror(pool), try await instance.mirror(east))
      #expect(own.isUndecided && !tenant.isUndecided)
      await expect("otherWalk") {
        try await connections.acceptGone(
          from: east, of: pool, walk: tenant.walk, by: Instance.program)
      }
      _ = try await connections.acceptGone(
        from: pool, of: pool, walk: own.walk, by: Instance.program)
      remote.behavior.faults = [:]
      #expect(try await instance.sync(pool) == .walk)
      #expect(try await instance.mirrored(east).allSatisfy { $0.goneAt == nil })
    }
  }
}
