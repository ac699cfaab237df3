import HTTP
import Localization
import Templating

struct PoolMenu: ViewModel, Hashable {
  struct Place: Hashable {
    let id: String
    let name: String
    /// Whether the reader can open the project itself, not only its tenants.
    let isOpen: Bool
  }

  let name: Message
  let places: [Place]
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
    .text(\.name),
    .list("links") { $0.links },
    .text("allHref") { $0.project.map { ConsolePaths.tenants($0) } ?? ConsolePaths.projects() },
    .text("allText") {
      $0.project == nil ? Message("All projects") : Message("All tenants")
    },
  ]

  /// Hashes only the current project and tenant, which nearly always differ between menus.
  func hash(into hasher: inout Hasher) {
    hasher.combine(project)
    hasher.combine(current)
  }
}
