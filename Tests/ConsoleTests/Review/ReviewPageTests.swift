import HTTP
import Identity
import Testing

@testable import Console

/// The review of all policies of a project.
@Suite struct ReviewPageTests {
  private static let address = "/projects/acme-retail/review"

  @Test func `differences are counted and lead to the comparison`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(Self.address)
      #expect(page.says("3 tenants (users: 4). 50% have a second factor. 2 differ from"))
      #expect(page.says(">2 differences<span class=\"visually-hidden\"> in <bdi>eu-shop</bdi>"))
      let eu = try await world.eu
      #expect(page.values(of: "href").contains(eu + "/policy/comparison?with=acme-retail"))
      #expect(page.says("<bdi>Tomás R.</bdi>"))
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get(Self.address + "?show=differs")
      #expect(
        read.says("eu-shop") && read.says("us-shop") && !read.says("sandbox\"")
          && !read.says("<span class=\"chip on\">same"))
      #expect(!read.says("change=project"))
    }
  }

  @Test func `an administrator of one tenant sees only that tenant`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      for query in ["", "?show=differs", "?sort=enrolled", ".csv"] {
        let page = try await nadia.get(Self.address + query)
        #expect(page.status == .ok)
        for word in ["us-shop", "sandbox", "differs", "users outside"] {
          #expect(!page.text.dropFirst(200).contains(">\(word)"), "\(query) \(word)")
        }
      }
      #expect(try await nadia.get(Self.address + ".csv").says("\"eu-shop\""))
      #expect(try await nadia.get("/projects/globex/review").status == .notFound)
      #expect(try await nadia.get("/projects/globex/review.csv").status == .notFound)
    }
  }

  @Test func `the CSV has every row, applies the page's filter, and escapes formulas`() async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let policy = Author(
        actor: .administrator(ID("x"), name: "=HYPERLINK(\"http://evil\")"), address: "",
        requestID: "")
      let project = try await world.identity.pools.existing(project: ID("acme-retail"))
      _ = try await world.identity.policies.change(project, by: .program(policy)) {
        $0.pattern = .mandatory
        $0.mandatoryFrom = Day("2026-12-01")
      }
      let answer = try await ada.get(Self.address + ".csv")
      #expect(answer.response.fields[.contentType]?.hasPrefix("text/csv") == true)
      #expect(
        answer.response.fields["Content-Disposition"]
          == "attachment; filename=\"mfa-policies-acme-retail.csv\"")
      let lines = answer.text.split(separator: "\r\n")
      #expect(lines.count == 5)
      #expect(
        lines[1].hasPrefix(
          "\"acme-retail\",\"\",\"Acme Retail\",\"off\",\"default\",\"0\",\"off\",\"mandatory\",\"2026-12-01\",\"off\",\"\",\"\",\"0\",\"0\",\"\","
        ))
      #expect(answer.says("\"'=HYPERLINK(\"\"http://evil\"\")\""))
      #expect(answer.says("\"4\",\"2\",\"50\",") && answer.says("\"TOTP, enrollment pattern\""))
      let some = try await ada.get(Self.address + ".csv?show=off")
      #expect(some.text.split(separator: "\r\n").count == 2 && some.says("\"sandbox\""))
    }
  }

  @Test func `a thousand tenants are paged through in every order, each once`() async throws {
    try await World.withSampleData { world in
      let admin = Author(actor: .commandLine)
      for number in 0..<1_000 {
        _ = try await world.identity.pools.createTenant(
          in: ID("globex"),
          PoolEdit(
            displayName: "shop-\(number)",
            configuration: MFAConfiguration(
              totp: number % 3 == 0
                ? nil : TOTPConfiguration(state: .enabled, adjacentIntervals: number % 11))),
          by: .program(admin))
      }
      let ada = try await Browser.signedIn(world)
      for sort in ["name", "window", "enrolled", "changed"] {
        var next: String? = "/projects/globex/review?sort=\(sort)"
        var (seen, pages): ([String], Int) = ([], 0)
        while let address = next, pages < 30 {
          let page = try await ada.get(address)
          #expect(page.status == .ok)
          seen += page.values(of: "href").filter {
            $0.hasPrefix("/projects/globex/tenants/") && $0.hasSuffix("/policy")
          }
          next = page.values(of: "href").first { $0.contains("after=") }
          pages += 1
        }
        #expect(seen.count == 1_000 && Set(seen).count == 1_000 && pages == 20, "\(sort)")
      }
      let file = try await ada.get("/projects/globex/review.csv?sort=window")
      #expect(file.text.split(separator: "\r\n").count == 1_002)
      let page = try await ada.get("/projects/globex/review?q=shop-77&show=off")
      #expect(page.status == .ok && page.says("shop-777"))
    }
  }

  @Test func `links keep the page's query parameters`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(Self.address + "?q=shop&show=differs&sort=changed")
      let links = page.values(of: "href")
      #expect(links.contains(Self.address + "?q=shop&show=differs&sort=window"))
      #expect(links.contains(Self.address + "?q=shop&show=off&sort=changed"))
      #expect(links.contains(Self.address + ".csv?q=shop&show=differs&sort=changed"))
      #expect(page.value(of: "show") == "differs" && page.value(of: "sort") == "changed")
      #expect(page.says("aria-sort=\"descending\"><a"))
      for query in ["?show=x&sort=y", "?after=%20", "?sort=window&after=--"] {
        let page = try await ada.get(Self.address + query)
        #expect(page.status == .ok && page.says("name=\"after\"") == query.contains("after"))
      }
    }
  }
}
