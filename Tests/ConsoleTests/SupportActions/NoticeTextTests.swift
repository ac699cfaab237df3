import HTTP
import Identity
import Testing

@testable import Console

/// Pages promise an email only if the server sends one.
@Suite struct NoticeWordsTests {
  private static let missing = "Email isn’t set up"

  /// Every page that can promise an email.
  private func pages(_ world: World) async throws -> [Answer] {
    let nadia = try await Browser.signedIn(world, as: World.nadia)
    let ada = try await Browser.signedIn(world)
    let eu = try await world.eu
    let chiara = try await world.user()
    try await world.allowBackupCodes()
    let user = "\(eu)/users/\(World.chiara)"
    let farid = "\(eu)/users/b4Lz81WcQm0RtY2pKx7D"
    // Enrollment links are for users without an app.
    _ = try await nadia.submit(farid + "/factors/removal", ["reason": "stolen"])
    let factor = "\(user)/factors/\(try await world.factor(of: World.chiara).text)"
    var (pages, addresses): ([Answer], [String]) = (
      [],
      [
        "\(factor)/removal", "\(user)/factors/removal", "\(factor)/suspension", "\(factor)/name",
        "\(user)/sessions/end", "\(user)/temporary-code", "\(farid)/enrollment-link",
      ]
    )
    for address in addresses { pages.append(try await nadia.get(address)) }
    pages.append(try await ada.get("\(user)/deletion"))
    // A removal request, and a bulk removal.
    var settings = SupportRules()
    settings.approvalForLastFactor = true
    let (pool, author) = (try await world.euPool, Author(actor: .commandLine))
    try await world.identity.support.change(pool, to: settings, by: .program(author))
    _ = try await world.identity.policies.change(pool, by: .program(author)) {
      edit throws(PolicyError) in
      edit.pattern = .mandatory
    }
    _ = try await nadia.submit("\(user)/factors/removal", ["reason": "lost"])
    addresses = try await nadia.get("/approvals").values(of: "href")
    let request = try #require(addresses.first { $0.contains("/approvals/") })
    pages.append(try await ada.get(request))
    let list = try await nadia.submit("\(eu)/bulk-removals", ["list": chiara.id.text])
    pages.append(try await nadia.get(try #require(list.location)))
    return pages
  }

  @Test func `without a mail server, every page says that the user isn't notified`() async throws {
    try await World.withSampleData { world in
      for page in try await pages(world) {
        #expect(page.status == .ok && page.says(Self.missing), "\(page.address)")
        for word in ["notifies", "contains a link", "notify"] {
          #expect(!page.says(word), "\(page.address)")
        }
        Markup.check(page)
      }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/b4Lz81WcQm0RtY2pKx7D"
      #expect(
        try await nadia.submit(user + "/enrollment-link", ["reason": "enrollment"]).location == user
      )
      #expect(try await nadia.get(user).says("so the link wasn’t sent to"))
    }
  }

  @Test func `with a mail server, every page says that the user is notified`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      for page in try await pages(world) {
        #expect(!page.says(Self.missing), "\(page.address)")
        let isPromised = page.says("is notified") || page.says("contains a link")
        #expect(page.status == .ok && isPromised, "\(page.address)")
        Markup.check(page)
      }
    }
  }
}
