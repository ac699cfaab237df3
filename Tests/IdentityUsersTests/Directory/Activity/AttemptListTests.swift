import Identity
import OTP
import Testing

@testable import TestIdentity

struct AttemptListTests {
  /// Reads a list page by page.
  private func all(
    _ instance: Instance, _ filter: ActivityFilter, limit: Int = 3
  ) async throws -> [UserCodeAttempt] {
    var items: [UserCodeAttempt] = []
    var after: String?
    repeat {
      let page = try await instance.identity.activity.attempts(
        in: instance.acme, filter, after: after, limit: limit)
      #expect(page.items.count <= limit)
      items += page.items
      after = page.next
    } while after != nil
    return items
  }

  @Test func `a pool's attempts are listed by outcome, kind, and period, newest first`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(1)
      let alice = try await instance.enrolled(.alice)
      let bob = try await instance.enrolled(.bob)
      let middle = instance.now.advanced(bySeconds: 5 * 400)
      for round in 0..<12 {
        let device = round % 3 == 0 ? bob : alice
        let now = instance.now
        let code =
          switch round % 4 {
          case 0: try device.wrongCode(at: now)
          case 1: try device.code(at: now, steps: -4)
          default: try device.code(at: now)
          }
        try await instance.enterCode(device, code: code)
        instance.clock.advance(400)
      }
      let logs = try await [alice, bob].asyncMap { try await instance.codeAttempts($0.account) }
      let expected = zip([alice, bob], logs)
        .flatMap { device, log in log.map { (device.account.id, $0) } }
        .sorted { $0.1.at > $1.1.at }
      let filters: [ActivityFilter] = [
        ActivityFilter(), ActivityFilter(outcomes: [.accepted]),
        ActivityFilter(outcomes: [.outside]), ActivityFilter(outcomes: [.incorrect, .outside]),
        ActivityFilter(outcomes: [.accepted, .incorrect]), ActivityFilter(kind: .phone),
        ActivityFilter(outcomes: [.outside], kind: .totp), ActivityFilter(from: middle),
        ActivityFilter(outcomes: [.incorrect], to: middle),
        ActivityFilter(outcomes: [.outside], from: middle, to: instance.now),
        ActivityFilter(account: alice.account.id),
        ActivityFilter(outcomes: [.accepted], account: bob.account.id, from: middle),
        ActivityFilter(kind: .totp, account: alice.account.id, to: middle),
        ActivityFilter(account: ID("nobody")),
      ]
      for filter in filters {
        let wanted = expected.filter { account, attempt in
          (filter.outcomes.isEmpty || filter.outcomes.contains(attempt.result.outcome))
            && (filter.kind == nil || filter.kind == attempt.way.kind)
            && (filter.account == nil || filter.account == account)
            && (filter.from.map { attempt.at >= $0 } ?? true)
            && (filter.to.map { attempt.at < $0 } ?? true)
        }
        let items = try await all(instance, filter)
        #expect(items.map(\.account) == wanted.map(\.0), "\(filter)")
        #expect(items.map(\.attempt.at) == wanted.map(\.1.at), "\(filter)")
      }
      let first = try #require(try await all(instance, ActivityFilter()).first)
      #expect(first.email == "alice@example.com" && first.displayName == nil)
      #expect(try await all(instance, ActivityFilter(), limit: 100).count == expected.count)
      #expect(
        try await instance.identity.activity.attempts(in: instance.east).items.isEmpty)
    }
  }
}

extension Array {
  fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
    var mapped: [T] = []
    for element in self { mapped.append(try await body(element)) }
    return mapped
  }
}
