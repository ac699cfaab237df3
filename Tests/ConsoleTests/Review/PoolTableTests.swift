import HTTP
import Identity
import Localization
import Testing

@testable import Console

/// The columns of the table of pools.
@Suite struct PoolTableTests {
  private func headings(_ page: Answer) -> [String] {
    PoolColumn.allCases.map(\.heading.english).filter { page.says("data-label=\"\($0)\"") }
  }

  @Test(arguments: PoolPreset.allCases)
  func `tenants and the review show the columns of a preset`(preset: PoolPreset) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let expected = PoolColumn.allCases.filter(preset.columns.contains).map(\.heading.english)
      for page in ["tenants", "review"] {
        let answer = try await ada.get("/projects/acme-retail/\(page)?view=\(preset.rawValue)")
        #expect(headings(answer) == expected, "\(page)")
      }
    }
  }

  @Test func `columns are chosen one by one, and links keep the choice`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let path = "/projects/acme-retail/tenants"
      let page = try await ada.get(path + "?column=&column=sms&column=enrolled")
      #expect(headings(page) == ["SMS", "Enrolled"])
      let links = page.values(of: "href")
      #expect(links.contains(path + "?sort=enrolled&column=&column=sms&column=enrolled"))
      #expect(links.contains(path + "?view=review") && links.contains(path))
      let none = try await ada.get(path + "?column=")
      #expect(none.status == .ok && headings(none).isEmpty)
      let unknown = try await ada.get(path + "?view=x&column=y")
      #expect(unknown.status == .ok)
    }
  }
}
