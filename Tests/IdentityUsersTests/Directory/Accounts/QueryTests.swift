import Testing

@testable import Identity
@testable import TestIdentity

/// Queries by offset and limit, as backends send them.
struct AccountQueryTests {
  private static let names = ["Zoë", "adam", "Ödön", "Bea", nil, "ada", "Çelik", nil]

  /// Creates accounts that sort differently by each key: UIDs descend, some accounts are enrolled,
  /// and some have no name or email.
  private func fill(_ instance: Instance) async throws {
    for (number, name) in Self.names.enumerated() {
      var new = NewAccount()
      new.localID = "u\(9 - number)"
      new.displayName = name
      new.email = number == 5 ? nil : "\((number * 5) % 8)@example.com"
      (new.password, new.emailVerified) = (Person.alice.password, true)
      _ = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss))
      instance.clock.advance(1)
    }
    // Two enroll, and three sign in on two days.
    for uid in ["u8", "u6"] { try await enroll(uid, instance) }
    instance.clock.advance(86_400)
    try await enroll("u3", instance)
    var other = NewAccount()
    other.localID = "elsewhere"
    _ = try await instance.identity.accounts.create(
      instance.east, other, by: .program(Instance.boss))
  }

  private func enroll(_ uid: String, _ instance: Instance) async throws {
    let account = try #require(try await instance.identity.accounts.find(instance.acme, ID(uid)))
    let outcome = try await instance.identity.signIns.password(
      instance.acme, email: account.email ?? "", password: Person.alice.password, address: "a")
    guard case .signedIn(let grant) = outcome else { throw Unexpected("a code for \(uid)") }
    _ = try await instance.enroll(grant.session)
    instance.clock.advance(60)
  }

  private func uids(
    _ instance: Instance, _ sort: AccountQuery.Sort, descends: Bool = false, offset: Int = 0,
    limit: Int = 500
  ) async throws -> [String] {
    var query = AccountQuery()
    (query.sort, query.descends, query.offset, query.limit) = (sort, descends, offset, limit)
    return try await instance.identity.accounts.query(instance.acme, query).map(\.id.text)
  }

  @Test func `each sort key orders accounts ascending and descending`() async throws {
    try await withInstance { instance in
      try await fill(instance)
      let expected: [(AccountQuery.Sort, [String])] = [
        (.uid, ["u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9"]),
        (.createdAt, ["u9", "u8", "u7", "u6", "u5", "u4", "u3", "u2"]),
        (.name, ["u4", "u8", "u6", "u3", "u7", "u9", "u5", "u2"]),
        (.email, ["u9", "u7", "u2", "u5", "u8", "u3", "u6", "u4"]),
        (.lastLoginAt, ["u9", "u7", "u5", "u4", "u2", "u8", "u6", "u3"]),
      ]
      #expect(expected.count == AccountQuery.Sort.allCases.count)
      for (sort, order) in expected {
        #expect(try await uids(instance, sort) == order, "\(sort)")
        let backwards = try await uids(instance, sort, descends: true)
        #expect(backwards == order.reversed(), "\(sort)")
      }
    }
  }

  @Test func `pages of any size add up to the whole list, each account once`() async throws {
    try await withInstance { instance in
      try await fill(instance)
      for sort in AccountQuery.Sort.allCases {
        for descends in [false, true] {
          let whole = try await uids(instance, sort, descends: descends)
          for size in [1, 3, 7] {
            var parts: [String] = []
            for offset in stride(from: 0, to: 9, by: size) {
              parts += try await uids(
                instance, sort, descends: descends, offset: offset, limit: size)
            }
            // Within a day, each page sorts by time separately.
            #expect(sort == .lastLoginAt ? parts.sorted() == whole.sorted() : parts == whole)
          }
        }
      }
    }
  }

  @Test func `an offset or limit out of range is harmless`() async throws {
    try await withInstance { instance in
      try await fill(instance)
      #expect(try await uids(instance, .email, offset: 8) == [])
      #expect(try await uids(instance, .name, offset: .max).isEmpty)
      #expect(try await uids(instance, .uid, offset: -5, limit: .max).count == 8)
      #expect(try await uids(instance, .uid, limit: -1).isEmpty)
    }
  }
}
