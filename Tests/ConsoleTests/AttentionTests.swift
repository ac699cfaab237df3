import HTTP
import Identity
import Testing

@testable import Console

@Suite struct AttentionTests {
  /// What the readers of each kind are, as letters of those in `readers`, and what its link says for
  /// each of them; an empty text for none.
  private static let expected: [AttentionKind: (readers: String, links: [String])] = [
    .clock: ("OPAS", []), .damage: ("OPAS", []), .auditFault: ("OA", []), .breakGlass: ("O", []),
    .tasksNotHeld: ("O", []), .droppedSettings: ("O", []), .policyFile: ("OPA", []),
    .unreadable: ("OPAS", []), .reported: ("OPAS", []), .spraying: ("OPAS", []),
    .removals: ("OPAS", []), .drift: ("OPAS", []), .textMessages: ("OPAS", []),
    .heldAgent: ("O", []),
    .signInOff: ("OPAS", ["Turn on sign-in…", "Turn on sign-in…", "", ""]),
    .lockedOut: ("OPAS", ["Show users", "", "Show users", "Show users"]),
    .unverified: ("OPAS", ["Show users", "", "Show users", "Show users"]),
    .late: ("OPAS", ["View messages", "", "View messages", "View messages"]),
    .unsent: ("OPAS", ["View messages", "", "View messages", "View messages"]),
    .weakened: ("OPA", ["Review policy", "Review policy", "View policy"]),
    .turnedOff: ("OPA", ["Turn on TOTP…", "Turn on TOTP…", "Review policy"]),
    .fileDrift: ("OPA", ["Review policy", "Review policy", "View policy"]),
    .off: ("OPA", ["Turn on TOTP…", "Turn on TOTP…", "View policy"]),
    .wide: ("OPA", ["Narrow window", "Narrow window", "View policy"]),
    .methods: ("OPA", ["Choose methods", "Choose methods", "View settings"]),
    .leftOutside: (
      "OPAS", ["Choose methods", "Choose methods", "View settings", "View settings"]
    ),
    .unstated: ("OPA", ["Set to Enabled", "Set to Enabled", "View policy"]),
    .phonesOff: ("OPA", ["Change policy", "Change policy", "View policy"]),
    .neverOn: ("OPA", ["Turn on TOTP…", "Turn on TOTP…", "View policy"]),
    .stale: ("OPA", ["Review policy", "Review policy", "View policy"]),
    .overdue: (
      "OPAS", ["Review policies", "Review policies", "Review policies", "Review policies"]
    ),
    .differing: ("OPA", ["Review policies", "Review policies", "Review policies"]),
    .unreviewed: (
      "OPAS", ["Review policies", "Review policies", "Review policies", "Review policies"]
    ),
  ]

  private static let ofInstance: Set<AttentionKind> = [
    .clock, .damage, .auditFault, .breakGlass, .tasksNotHeld, .droppedSettings, .policyFile,
  ]

  @Test func `each kind has its readers, and links that they can open`() async throws {
    #expect(Set(Self.expected.keys) == Set(AttentionKind.allCases))
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let all = try await world.identity.administrators.records().map(\.administrator)
      let people = [
        ("O", World.ada), ("P", World.tomas), ("A", World.iris), ("S", World.nadia),
      ]
      for (letter, email) in people {
        let administrator = try #require(all.first { $0.email == email })
        let browser = try await Browser.signedIn(world, as: email)
        for kind in AttentionKind.allCases {
          let (readers, links) = try #require(Self.expected[kind])
          let isInstance = Self.ofInstance.contains(kind)
          let place = isInstance ? AttentionPlace.instance : .pool(pool)
          let sees = kind.row.isSeen(by: administrator, in: place)
          #expect(sees == readers.contains(letter), "\(kind), \(email)")
          guard sees, let index = readers.firstIndex(of: Character(letter)) else { continue }
          let link = kind.row.link(for: administrator, in: place)
          let number = readers.distance(from: readers.startIndex, to: index)
          let expected = links.isEmpty ? "" : links[number]
          #expect((link?.text.english ?? "") == expected, "\(kind), \(email)")
          if let link { #expect(try await browser.get(link.href).status == .ok, "\(link.href)") }
        }
      }
    }
  }
}
