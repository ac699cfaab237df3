import HTTP
import Identity
import OTP
import Testing
import Text

@testable import Console

/// Menus, the sidebar, links, and buttons offer nothing that would be denied.
@Suite struct OfferTests {
  @Test(arguments: TestRole.all)
  func `every link and form on every page is permitted for the role`(testRole: TestRole)
    async throws
  {
    try await World.withSampleData { world in
      _ = try await world.projectPool
      let grant = try await testRole.grant(in: world)
      let browser = try await testRole.browser(in: world)
      var (waiting, known, visits) = (["/projects"], Set(["/projects"]), [String: Int]())
      var (pages, unmarked) = (0, [String]())
      while let address = waiting.popLast() {
        let answer = try await browser.get(address)
        #expect([200, 303].contains(answer.status.code), "\(testRole.testDescription): \(address)")
        guard answer.status == .ok, answer.isPage else { continue }
        pages += 1
        Markup.check(answer)
        if answer.currentEntries != 1 { unmarked.append(address) }
        // `MarkupTests` checks that each action has a route.
        for action in answer.values(of: "action") + answer.values(of: "formaction") {
          guard let (method, expected) = world.expectedOutcome(on: action, grant) else { continue }
          #expect(
            expected == .passes, "\(testRole.testDescription): \(method) \(action) on \(address)")
        }
        for link in answer.values(of: "href") where link.hasPrefix("/") {
          let plain = String(link.prefix { $0 != "#" })
          let path = String(plain.prefix { $0 != "?" })
          guard world.leads(.get, path), !path.hasPrefix("/static/"), known.insert(plain).inserted
          else { continue }
          // Lists link to themselves with other filters; two visits are enough.
          visits[path, default: 0] += 1
          if visits[path, default: 0] <= 2 { waiting.append(plain) }
        }
      }
      #expect(pages >= 3)
      #expect(unmarked.isEmpty, "each page marks one entry of the sidebar")
      if testRole.role == .owner && testRole.reach == .instance { #expect(pages > 40) }
    }
  }
}

extension Answer {
  /// Whether the response is a page, not a file.
  var isPage: Bool { response.fields[.contentType]?.hasPrefix("text/html") == true }
}

extension World {
  /// The expected outcome of sending a form to an address.
  fileprivate func expectedOutcome(on address: String, _ grant: Grant?) -> (
    HTTP.Method, ExpectedAccess
  )? {
    for method in [HTTP.Method.post, .get] {
      let fitting = console.routes.filter { $0.route.method == method && $0.route.fits(address) }
      // If two paths match, the one with more literal segments applies.
      guard
        let found = fitting.max(by: { $0.route.literalCount < $1.route.literalCount })
      else { continue }
      let segments = (Target(address)?.segments.map(\.text) ?? []) + ["", "", "", ""]
      let isOfProject = segments[0] == "projects" && segments[1] != "new"
      return (
        method,
        ExpectedAccess(
          found.access, grant, project: isOfProject ? segments[1] : nil,
          tenant: found.route.isOfTenant ? segments[3] : nil)
      )
    }
    return nil
  }
}

extension Route {
  fileprivate var literalCount: Int {
    components.reduce(0) { count, component in
      if case .literal = component { return count + 1 }
      return count
    }
  }

  fileprivate func fits(_ address: String) -> Bool {
    guard let segments = Target(address)?.segments.map(\.text), segments.count == components.count
    else {
      return false
    }
    return zip(components, segments).allSatisfy { component, segment in
      switch component {
      case .literal(let text): text == segment
      case .parameter(let suffix): segment.hasSuffix(suffix)
      }
    }
  }
}
