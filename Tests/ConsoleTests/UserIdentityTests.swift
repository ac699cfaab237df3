import HTTP
import Identity
import Testing

@testable import Console

/// Every page that acts on a user identifies the user.
@Suite struct UserIdentityTests {
  /// The paths of the pages that act on a user.
  private func addresses(_ world: World, _ samples: Samples, ofTenant: Bool) throws -> [String] {
    var addresses: [String] = []
    for route in world.console.routes where route.route.isOfTenant == ofTenant {
      // A code is sent from the page of the action that needs it.
      let isSent = route.route.pattern.hasSuffix("/caller-code")
      // The codes of a user are downloaded from the user's page.
      let isFile = route.route.pattern.hasSuffix("/code-attempts.csv")
      let isAct = !route.actions.isEmpty && route.route.isAboutUser && !isSent && !isFile
      guard isAct || route.route.pattern.hasSuffix("/temporary-code/shown") else { continue }
      addresses.append(try #require(samples.address(of: route.route), "\(route.route)"))
    }
    return addresses
  }

  /// Expects that a page shows each label with its value.
  private func expect(
    _ values: [(label: String, value: String)], on page: Answer,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for (label, value) in values {
      #expect(
        page.says("<div><dt>\(label)</dt><dd>\(value)</dd></div>"), "\(page.address): \(label)",
        sourceLocation: sourceLocation)
    }
  }

  private func change(
    _ account: Account, in pool: Pool, _ world: World, name: String? = nil, phone: String? = nil
  ) async throws {
    var change = AccountChange()
    change.displayName = name.map { Change.set($0) } ?? .clear
    change.phoneNumber = phone.map { Change.set($0) } ?? .clear
    try await world.identity.accounts.update(
      pool, account.id, change, by: Author(actor: .commandLine))
  }

  @Test(arguments: [true, false])
  func `each page that acts on a user shows name, pool, email, phone, and end of the UID`(
    ofTenant: Bool
  ) async throws {
    try await World.withSampleData { world in
      let samples = try await Samples(world, ofTenant: ofTenant)
      let pool = try await ofTenant ? world.euPool : world.projectPool
      let first = try #require(
        try await world.identity.accounts.list(pool, filter: .totp).items.first)
      let account = try #require(try await world.identity.accounts.find(pool, first.id))
      try await change(account, in: pool, world, name: "Chiara B.", phone: "+393331234567")
      let email = try #require(account.email)
      let ada = try await Browser.signedIn(world)
      let addresses = try addresses(world, samples, ofTenant: ofTenant)
      #expect(addresses.count > 20)
      for address in addresses {
        let page = try await ada.get(address)
        #expect(page.status == .ok, "\(address)")
        expect(
          [
            ("Name", "<bdi>Chiara B.</bdi>"),
            ("Project", "<bdi>\(ofTenant ? "Acme Retail / eu-shop" : "Acme Retail")</bdi>"),
            ("Email", "<bdi>\(email)</bdi>"), ("Phone", "<bdi>+393331234567</bdi>"),
            ("UID", "<bdi>…\(account.id.text.suffix(6))</bdi>"),
          ], on: page)
        Markup.check(page)
      }
      try await change(account, in: pool, world)
      for address in addresses {
        let page = try await ada.get(address)
        expect([("Name", "none"), ("Phone", "none")], on: page)
        Markup.check(page)
      }
    }
  }

  @Test func `requests and messages identify the user, requests even after deletion`() async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let chiara = try await world.user()
      var settings = SupportRules()
      settings.approvalForLastFactor = true
      let author = Author(actor: .commandLine)
      try await world.identity.support.change(pool, to: settings, by: .program(author))
      _ = try await world.identity.policies.change(pool, by: .program(author)) {
        edit throws(PolicyError) in
        edit.pattern = .mandatory
      }
      try await world.addMessage(for: chiara, in: pool)
      let message = try #require(try await world.identity.messages.list(pool).items.first)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      _ = try await nadia.submit(user + "/factors/removal", ["reason": "lost"])
      let ada = try await Browser.signedIn(world)
      let request = try #require(
        try await ada.get("/approvals").values(of: "href").first { $0.contains("/approvals/") })
      let identity = [
        ("Name", "<bdi>Chiara Bianchi</bdi>"), ("Project", "<bdi>Acme Retail / eu-shop</bdi>"),
        ("Email", "<bdi>chiara.bianchi@example.com</bdi>"), ("Phone", "none"),
        ("UID", "<bdi>…\(World.chiara.suffix(6))</bdi>"),
      ]
      let pending = try await ada.get(request)
      expect(identity, on: pending)
      #expect(pending.values(of: "href").contains(user) && pending.says("View user"))
      expect(identity, on: try await ada.get(try await world.eu + "/messages/\(message.id)"))
      try await world.identity.accounts.delete(pool, chiara.id, by: author)
      let gone = try await ada.get(request)
      expect(
        [
          ("User", "<bdi>chiara.bianchi@example.com</bdi>"),
          ("UID", "<bdi>…\(World.chiara.suffix(6))</bdi>"), ("Account", "deleted"),
        ], on: gone)
      #expect(!gone.values(of: "href").contains(user) && !gone.says("View user"))
      Markup.check(gone)
    }
  }

  @Test(arguments: HostileTests.names.indices)
  func `hostile names are escaped, and a short UID is shown in full`(index: Int) async throws {
    let name = HostileTests.names[index]
    try await World.withSampleData { world in
      var new = NewAccount()
      new.localID = "h<&\""
      new.displayName = name.cut(to: Account.longestName)
      let account = try await world.identity.accounts.create(
        try await world.euPool, new, by: .program(Author(actor: .commandLine))
      ).value
      let ada = try await Browser.signedIn(world)
      let uid = "h%3C%26%22"
      for word in ["disabling", "deletion", "unlock"] {
        let page = try await ada.get(try await world.eu + "/users/\(uid)/\(word)")
        #expect(page.status == .ok)
        expect([("UID", "<bdi>h&lt;&amp;&quot;</bdi>"), ("Email", "none")], on: page)
        Markup.check(page)
      }
      #expect(account.id.text == "h<&\"")
    }
  }
}

extension Route {
  /// Whether the path continues after a user's ID.
  fileprivate var isAboutUser: Bool {
    guard let place = components.firstIndex(of: .literal("users")) else { return false }
    return place + 2 < components.count
  }
}
