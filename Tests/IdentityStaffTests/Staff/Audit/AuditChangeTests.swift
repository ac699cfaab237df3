import Testing

@testable import Identity

/// Which fields of a resource differ.
struct AuditChangeTests {
  private static let name = AuditField(.displayName, .text("Ada"))
  private static let email = AuditField(.email, .text("ada@example.com"))
  private static let noPhone = AuditField(.phoneNumber, .absent)
  private static let disabled = AuditField(.disabled, .flag(false))

  @Test func `only fields that differ are changes`() {
    let renamed = AuditField(.displayName, .text("Bo"))
    let changes = AuditChange.between([Self.name, Self.email], [renamed, Self.email])
    #expect(changes == [AuditChange(.displayName, from: .text("Ada"), to: .text("Bo"))])
    #expect(AuditChange.between([], []).isEmpty)
  }

  @Test func `every field with a value of something new is a change`() {
    let changes = AuditChange.between(nil, [Self.name, Self.noPhone, Self.disabled])
    #expect(
      changes == [
        AuditChange(.displayName, to: .text("Ada")), AuditChange(.disabled, to: .flag(false)),
      ])
  }

  @Test func `fields are matched by name, not by position`() {
    let (one, other) = (
      [Self.name, Self.email, Self.noPhone], [Self.noPhone, Self.email, Self.name]
    )
    #expect(AuditChange.between(one, other).isEmpty)
    let moved = AuditField(.displayName, .text("Bo"))
    #expect(
      AuditChange.between(one, [Self.email, moved, Self.noPhone])
        == [AuditChange(.displayName, from: .text("Ada"), to: .text("Bo"))])
  }

  @Test func `a field that only one of the lists has isn't dropped`() {
    let lost = AuditChange(.email, from: .text("ada@example.com"), to: .absent)
    let added = AuditChange(.email, from: .absent, to: .text("ada@example.com"))
    #expect(AuditChange.between([Self.email, Self.name], [Self.name]) == [lost])
    #expect(AuditChange.between([Self.email, Self.noPhone], []) == [lost])
    #expect(AuditChange.between([Self.name], [Self.email, Self.name]) == [added])
    #expect(AuditChange.between([], [Self.email, Self.noPhone]) == [added])
  }

  @Test func `a part that isn't shown makes a field differ`() {
    let (old, new) = (
      AuditField(.keys, .list(["k1"]), hidden: ["a"]),
      AuditField(.keys, .list(["k1"]), hidden: ["b"])
    )
    let change = AuditChange(.keys, from: .list(["k1"]), to: .list(["k1"]))
    #expect(AuditChange.between([old], [new]) == [change])
    #expect(AuditChange.between([old], [old]).isEmpty)
  }

  @Test func `an entry about something new has its fields with values`() {
    var entry = AuditEntry(.accountCreate, .account, "a", name: "Ada")
    entry.compare(nil, [Self.name, Self.noPhone])
    #expect(entry.changes == [AuditChange(.displayName, to: .text("Ada"))])
  }
}
