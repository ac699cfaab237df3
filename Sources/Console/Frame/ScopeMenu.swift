import HTTP
import Templating

/// One part of `project / tenant` in the bar, with what else there is.
struct ScopeMenu: ViewModel, Hashable {
  /// Where one can go.
  struct Place: Hashable {
    let id: String
    let name: String
    /// Whether one sees the place itself; of some projects one sees tenants only.
    let isOpen: Bool
  }

  let name: String
  let places: [Place]
  /// The place where one is.
  let current: String?
  /// The project whose tenants these are; nil for a menu of projects.
  let project: String?

  private var links: [Link] {
    places.map { place in
      Link(text: place.name, href: href(of: place), isCurrent: place.id == current)
    }
  }

  private func href(of place: Place) -> String {
    if let project { return ConsolePaths.overview.ofTenant(project, place.id) }
    return place.isOpen
      ? ConsolePaths.overview.ofProject(place.id) : ConsolePaths.tenants(place.id)
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.name },
    .list("links") { $0.links },
    .text("allHref") { $0.project.map { ConsolePaths.tenants($0) } ?? ConsolePaths.projects() },
    .text("allText") { $0.project == nil ? "All projects" : "All tenants" },
  ]

  /// Hashes where one is, by which menus differ nearly always.
  func hash(into hasher: inout Hasher) {
    hasher.combine(project)
    hasher.combine(current)
  }
}
