import HTTP
import Identity
import Localization
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
    .turnedOff: ("OPA", ["Turn on TOTP…", "Turn on TOTP…", "View policy"]),
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
      "OPAS", ["Review policies", "Review policies", "Review policies", "View policies"]
    ),
    .differing: ("OPA", ["Review policies", "Review policies", "Review policies"]),
    .connectionPaused: ("OPAS", []), .connectionFailing: ("OPAS", []),
    .changeUnknown: ("OPAS", []),
    .changedElsewhere: ("OPA", ["Review policy", "Review policy", "View policy"]),
    .unreviewed: (
      "OPAS", ["Review policies", "Review policies", "Review policies", "View policies"]
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

  /// The marks of the items of a page, and their words.
  private func items(_ page: Answer) -> [String] {
    page.text.split(separator: "name=\"item\" value=\"").dropFirst()
      .map { String($0.prefix { $0 != "\"" }) }
  }

  /// What a form names the overview of the sample's tenant with.
  private func place(_ world: World) async throws -> String {
    let pool = try await world.euPool
    return "\(pool.project.text)/\(pool.tenant?.text ?? "")"
  }

  @Test func `what's dismissed on an overview is dismissed on the page of all projects`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      func all() async throws -> [String] { items(try await ada.get("/projects?attention=all")) }
      let shared = try await Set(items(try await ada.get(eu))).intersection(all())
      #expect(!shared.isEmpty)
      for item in shared {
        _ = try await ada.submit(
          eu, ["item": item, "page": try await place(world)], to: "/attention")
      }
      #expect(shared.isDisjoint(with: items(try await ada.get("/projects"))))
      #expect(try await Set(all()).isSuperset(of: shared), "they come last")
    }
  }

  @Test func `what's dismissed is left out of both lists, and shown at the end of all`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      for (page, address) in [(try await place(world), eu), ("", "/projects")] {
        let found = try #require(items(try await ada.get(address)).first, "\(address)")
        let answer = try await ada.submit(
          address, ["item": found, "page": page], to: "/attention")
        #expect(answer.location == address)
        let after = try await ada.get(address)
        Markup.check(after)
        #expect(!items(after).contains(found) && after.says("Dismissed: 1"))
        let all = try await ada.get(address + "?attention=all")
        Markup.check(all)
        #expect(items(all).last == found && all.says("Show again"))
        let undone = try await ada.submit(
          address, ["item": found, "page": page, "undo": "1"], to: "/attention")
        #expect(undone.location == address + "?attention=all#attention")
        #expect(items(try await ada.get(address)).contains(found))
      }
      let pool = try await world.euPool
      let critical = AttentionMark(.reported, project: pool.project, tenant: pool.tenant)
      func status(_ browser: Browser, _ item: String) async throws -> Status {
        try await browser.submit("/users", ["item": item], to: "/attention").status
      }
      #expect(try await status(ada, critical.text) == .forbidden)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let other = AttentionMark(.neverOn, project: ID("globex"), tenant: nil)
      #expect(try await status(nadia, other.text) == .forbidden)
      #expect(try await status(ada, "x") == .badRequest)
    }
  }

  @Test func `all can be dismissed, and the list says so`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      let found = items(try await ada.get(eu))
      for item in found {
        _ = try await ada.submit(
          eu, ["item": item, "page": try await place(world)], to: "/attention")
      }
      let page = try await ada.get(eu)
      Markup.check(page)
      #expect(!found.isEmpty && items(page) == [])
      #expect(page.says("Dismissed: \(found.count)"))
    }
  }

  private static func list(
    _ items: [(kind: AttentionKind, number: Int64)], without marks: [AttentionMark: Instant] = [:],
    _ administrator: Administrator
  ) -> [AttentionItem] {
    var found = AttentionItems(for: administrator)
    for (kind, number) in items {
      found.add(kind, number: number, in: .project(ID("acme"), "Acme"), .verbatim("x"))
    }
    return found.sorted(without: marks)
  }

  @Test func `what's dismissed is back when its number or what else is of its kind changes`()
    async throws
  {
    try await World.withSampleData { world in
      let all = try await world.identity.administrators.records().map(\.administrator)
      let owner = try #require(all.first { $0.email == World.ada })
      let until = Instant(seconds: 2_000_000_000)
      let seen = Self.list([(.unverified, 2), (.unsent, 1), (.unsent, 4)], owner)
      #expect(seen.allSatisfy { !$0.isDismissed })
      let marks = Dictionary(seen.map { ($0.mark, until) }) { $1 }
      #expect(marks.count == 2, "those of one kind are dismissed together")
      #expect(
        Self.list([(.unverified, 2), (.unsent, 1), (.unsent, 4)], without: marks, owner)
          .allSatisfy { $0.isDismissed })
      let changed = Self.list([(.unverified, 3), (.unsent, 1)], without: marks, owner)
      #expect(changed.count == 2 && changed.allSatisfy { !$0.isDismissed })
      // What's critical is never dismissed, whatever is stored.
      let critical = Self.list([(.reported, 1)], owner)
      #expect(
        Self.list([(.reported, 1)], without: [critical[0].mark: until], owner)
          .allSatisfy { !$0.isDismissed })
    }
  }
}
