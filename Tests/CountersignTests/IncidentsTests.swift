import Foundation
import Testing

@testable import countersign

/// docs/incidents.md has a section for everything that can call someone at night.
struct IncidentsTests {
  @Test func `the page has each word of readyz`() throws {
    let words = ["starting", "draining"] + Readiness.Check.allCases.map(\.rawValue)
    #expect(try Set(headings(in: "Words of /readyz")) == Set(words))
  }

  @Test func `the page has each alert, and its runbook leads there`() throws {
    let rules = try text("ops/prometheus/alerts.yml")
    let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) }
    #expect(alerts.count > 15)
    #expect(try headings(in: "Alerts") == alerts)
    let page = "{{ $externalLabels.countersign_docs }}/incidents.md"
    let runbooks = rules.matches(of: /runbook_url: "(.+)"/).map { String($0.output.1) }
    #expect(runbooks == alerts.map { "\(page)#\($0.lowercased())" })
    // Browsers open it, wherever Prometheus runs.
    let configuration = try text("ops/prometheus/prometheus.yml")
    #expect(
      configuration.contains(#/\n  external_labels:\n.*\n    countersign_docs: https://\S+/docs\n/#)
    )
  }

  /// Returns the headings of a part of the page.
  private func headings(in part: String) throws -> [String] {
    let page = try text("docs/incidents.md")
    let start = try #require(page.range(of: "\n## \(part)\n")).upperBound
    let rest = page[start...]
    let section = rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
    return section.split(separator: "\n").filter { $0.hasPrefix("### ") }
      .map { String($0.dropFirst(4)) }
  }

  private func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
