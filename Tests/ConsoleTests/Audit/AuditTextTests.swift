import Identity
import Localization
import Testing

@testable import Console

@Suite struct AuditWordsTests {
  @Test(arguments: AuditAction.allCases)
  func `each action has a unique name`(action: AuditAction) {
    let words = AuditText.name(of: action).english
    #expect(!words.isEmpty && !words.contains("."))
    #expect(AuditAction.allCases.count { AuditText.name(of: $0).english == words } == 1)
  }

  @Test func `each field has a unique name in the filter`() {
    let names = AuditFieldName.allCases.map { AuditFieldLabel($0).name.english }
    #expect(!names.contains("") && Set(names).count == names.count)
  }

  @Test(arguments: AuditGroup.allCases)
  func `each group has a name, and actions whose names begin alike`(group: AuditGroup) {
    #expect(!group.name.english.isEmpty)
    // An index of the log is sorted by it.
    #expect(Set(group.actions.map { $0.rawValue.prefix { $0 != "." } }).count == 1)
    // Groups and actions share a query parameter.
    #expect(AuditAction(rawValue: group.rawValue) == nil)
  }

  @Test(arguments: AuditResource.allCases)
  func `each resource type has a name`(resource: AuditResource) {
    #expect(!AuditText.name(of: resource).english.isEmpty)
  }
}

extension AuditFormatter {
  /// Formats in English, with times in RFC 3339.
  static let english = AuditFormatter(nil, .english)
}

private let iPhone = AuditFactor("1", "iPhone")

extension AuditFactor {
  /// Creates a phone factor if there is a number, otherwise a TOTP factor.
  fileprivate init(_ id: String, _ name: String? = nil, phone: String? = nil) {
    self.init(
      id: id, kind: phone == nil ? .totp : .phone, displayName: name, phoneNumber: phone)
  }
}

@Suite struct AuditFormatterTests {
  private func line(_ change: AuditChange) -> String { AuditFormatter.english.line(change) }

  @Test func `a change is shown as the field, the old value, and the new value`() {
    #expect(line(AuditChange(.displayName, from: .text("Ada"), to: .absent)) == "name Ada → none")
    #expect(
      line(AuditChange(.displayName, from: .absent, to: .text("none"))) == "name none → “none”")
    #expect(line(AuditChange(.email, to: .text("a@example.com"))) == "email: a@example.com")
    #expect(line(AuditChange(.sessionsEnded, to: .number(1))) == "1 session ended")
    #expect(line(AuditChange(.sessionsEnded, to: .number(1_200))) == "1,200 sessions ended")
    #expect(
      line(AuditChange(.disabled, from: .flag(false), to: .flag(true))) == "disabled no → yes")
    #expect(line(AuditChange(.password, from: .secret, to: .secret)) == "password: changed")
    #expect(line(AuditChange(.password, from: .absent, to: .secret)) == "password none → set")
    #expect(
      line(AuditChange(.totp, from: .code("enabled"), to: .code("unspecified")))
        == "TOTP on → on (state unset)")
    #expect(line(AuditChange(.totp, from: .absent, to: .code("enabled"))) == "TOTP off → on")
    #expect(
      line(AuditChange(.undoPeriod, from: .duration(3_600), to: .duration(172_800)))
        == "undo period 1\u{A0}h → 2 days")
    #expect(
      line(AuditChange(.keys, from: .list(["k1"]), to: .list(["k1"]))) == "keys k1 → k1 (changed)")
    #expect(
      line(AuditChange(.grants, to: .list(["owner", "policy acme/east"])))
        == "roles: owner (instance), policy admin (acme/east)")
    #expect(
      line(AuditChange(.suspendedUntil, from: .absent, to: .instant(Instant(seconds: 0))))
        == "suspended until no → 1970-01-01T00:00:00.000000Z")
  }

  @Test(
    arguments: [
      (.factors([iPhone]), nil, "second factors: TOTP “iPhone”"),
      (
        .factors([iPhone]), .factors([AuditFactor("1", "Old phone")]),
        "second factors TOTP “iPhone” → TOTP “Old phone”"
      ),
      (
        .absent, .factors([iPhone, AuditFactor("2", "Tablet")]),
        "second factors none → TOTP “iPhone”, TOTP “Tablet”"
      ),
      (nil, .factors([AuditFactor("3")]), "second factors: TOTP “authenticator” (3)"),
      (
        nil,
        .factors([AuditFactor("4", phone: "+15550100"), AuditFactor("5", phone: "+15550111")]),
        "second factors: phone +15550100, phone +15550111"
      ),
      (
        nil, .factors([iPhone, AuditFactor("2", "iPhone"), AuditFactor("6", "Tablet")]),
        "second factors: TOTP “iPhone” (1), TOTP “iPhone” (2), TOTP “Tablet”"
      ),
      (
        .factors([iPhone]), .factors([AuditFactor("2", "iPhone")]),
        "second factors TOTP “iPhone” (1) → TOTP “iPhone” (2)"
      ),
    ] as [(AuditValue?, AuditValue?, String)])
  func `pages show the IDs of factors only if nothing else identifies them`(
    old: AuditValue?, new: AuditValue?, text: String
  ) {
    let change = AuditChange(.factors, from: old, to: new)
    #expect(AuditFormatter(Times(.english), .english).line(change) == text)
  }

  @Test func `files have the IDs of all factors`() {
    #expect(
      line(
        AuditChange(.factors, to: .factors([iPhone, AuditFactor("4", "Work", phone: "+15550100")])))
        == "second factors: TOTP “iPhone” (1), phone +15550100 “Work” (4)")
  }

  @Test func `a value can't reverse the text after it`() {
    let name = AuditChange(.displayName, from: .text("Ada\u{202E}gnp"), to: .text("\u{2067}Bo"))
    #expect(line(name) == "name Ada\u{FFFD}gnp → \u{FFFD}Bo")
    #expect(line(AuditChange(.displayName, to: .text("Ada’s"))) == "name: Ada’s")
  }

  @Test(arguments: AuditFieldName.allCases)
  func `each kind of value of each field has a text`(field: AuditFieldName) {
    let values: [AuditValue] = [
      .absent, .text("x"), .number(2), .flag(true), .instant(Instant(seconds: 1)), .duration(60),
      .list(["x", "y"]), .code("unknown-code"), .secret, .factors([]),
    ]
    for old in values {
      for new in values {
        #expect(!line(AuditChange(field, from: old, to: new)).isEmpty)
      }
    }
  }

  @Test func `a value can't pretend to be another field`() {
    let name = "y; email verified: yes\n\u{1B}[2J"
    let change = AuditChange(.displayName, from: .text("x; email verified: no"), to: .text(name))
    #expect(
      line(change)
        == "name x;\u{A0}email verified: no → y;\u{A0}email verified: yes\u{FFFD}\u{FFFD}[2J")
  }
}
