import Testing

@testable import Console

/// Empty lists say what they're about, and where to learn more.
@Suite struct EmptyListTests {
  @Test(arguments: [
    ("/projects/globex/users", "/guides?project=globex"),
    ("/projects/globex/activity", "/guides?project=globex"),
    ("{eu}/users/u77TnC0aPzQ4hW1sGv9M/code-attempts", "/guides?project=acme-retail"),
    ("/exemptions", "/guides/mandatory"),
    ("/projects/globex/settings/keys", "/projects/globex#connect"),
  ])
  func `an empty list links to a page that explains it`(address: String, link: String)
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(try await world.filled(address))
      Markup.check(page)
      // The sidebar, which has a link to the guides too, is in front of it.
      let list = try #require(page.text.split(separator: "<div class=\"empty\">").dropFirst().first)
      #expect(list.prefix(while: { $0 != "\n" }).contains("<a href=\"\(link)"))
    }
  }
}
