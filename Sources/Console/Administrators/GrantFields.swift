import HTTP
import Identity
import Localization
import Templating

/// A role and its scope, as entered in a form.
struct GrantAnswers: Sendable {
  var role = ""
  var project = ""
  var tenant = ""

  init() {}

  init(_ grant: Grant) {
    role = grant.role.rawValue
    project = grant.project?.text ?? ""
    tenant = grant.tenant?.text ?? ""
  }

  init(_ form: Form) {
    role = form.trimmed("role")
    if let place = form.text("place") {
      let parts = place.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      project = parts.first.map(String.init) ?? ""
      tenant = parts.count == 2 ? String(parts[1]) : ""
    } else {
      project = form.trimmed("project")
      tenant = form.trimmed("tenant")
    }
  }

  /// The answers as hidden fields.
  var fields: [HiddenField] {
    [
      HiddenField(name: "role", value: role), HiddenField(name: "project", value: project),
      HiddenField(name: "tenant", value: tenant),
    ]
  }

  /// The answers as a query.
  var query: Form {
    var query = Form()
    for field in fields where !field.value.isEmpty { query.add(field.name, field.value) }
    return query
  }

  /// Parses the answers; returns the grant or the errors.
  func grant() -> (grant: Grant?, errors: [FieldError]) {
    guard let role = Role(rawValue: role) else {
      return (nil, [FieldError(field: "role", text: Message("administrators.role-required"))])
    }
    if !tenant.isEmpty, project.isEmpty {
      return (nil, [FieldError(field: "place", text: Message("administrators.project-required"))])
    }
    let grant = Grant(
      role: role, project: project.isEmpty ? nil : ID(project),
      tenant: tenant.isEmpty ? nil : ID(tenant))
    return (grant, [])
  }

  fileprivate var place: String { tenant.isEmpty ? project : "\(project)/\(tenant)" }
}

/// Lists the scopes that a role can be granted in, if there are few enough for a menu.
struct Places: Sendable {
  let identity: Identity

  private static let most = 60

  /// Lists the instance, projects, and tenants; returns nil if there are too many for one menu.
  func few(for administrator: Administrator) async throws(Refusal) -> [(
    value: String, text: Message
  )]? {
    let projects = try await refusing {
      try await identity.pools.projectNames(visibleTo: administrator, limit: 21)
    }
    guard projects.count <= 20 else { return nil }
    var places = [(value: "", text: Message("administrators.whole-instance"))]
    for (id, name) in projects {
      let projectName = Words.short(name, 60)
      places.append(
        (id.text, Message("administrators.whole-project", ["project": .text(projectName)])))
      let tenants = try await refusing {
        try await identity.pools.tenantNames(
          project: id, visibleTo: administrator, limit: Self.most)
      }
      for (tenant, tenantName) in tenants {
        let path = Message.verbatim("\(projectName) / \(Words.short(tenantName, 60))")
        places.append(("\(id.text)/\(tenant.text)", path))
      }
      guard places.count <= Self.most else { return nil }
    }
    return places
  }
}

/// The role and scope fields of a form.
struct GrantFields: ViewModel {
  let answers: GrantAnswers
  let places: [(value: String, text: Message)]?
  let frame: FrameView

  static let keys: Keys<Self> = [
    .list("roles") { view in
      Role.allCases.map { role in
        Choice(
          value: role.rawValue,
          text: Message(
            "administrators.role-option",
            ["role": .message(role.title), "summary": .message(role.summary.message)]),
          isChosen: role.rawValue == view.answers.role)
      }
    },
    .flag("hasPlaces") { $0.places != nil },
    .list("places") { view in
      (view.places ?? []).map { place in
        Choice(
          value: place.value, text: place.text, isChosen: place.value == view.answers.place)
      }
    },
    .text("project") { $0.answers.project },
    .text("tenant") { $0.answers.tenant },
    .text("roleError") { $0.frame.error(at: "role") },
    .text("placeError") { $0.frame.error(at: "place") },
  ]
}

extension ManagementError {
  /// The error message for a field of an administrator form.
  func fault(_ answers: GrantAnswers) throws(Refusal) -> FieldError {
    switch self {
    case .invalidEmail:
      FieldError(field: "email", text: Message("administrators.email-invalid"))
    case .emailTaken:
      FieldError(field: "email", text: Message("administrators.email-taken"))
    case .invalidName:
      FieldError(field: "name", text: Message("administrators.name-invalid"))
    case .scopeNotFound:
      FieldError(
        field: "place",
        text: answers.tenant.isEmpty
          ? Message(
            "administrators.project-unknown", ["project": .name(Words.short(answers.project))])
          : Message(
            "administrators.tenant-unknown", ["project": .name(Words.short(answers.project))]))
    case .notAllowed: throw .notAllowed(.manageAdministrators)
    case .notFound: throw .notFound
    case .oneself:
      FieldError(
        field: "role",
        text: Message(
          "administrators.own-roles",
          ["holder": .message(Permission.manageAdministrators.otherHolder)]))
    case .lastOwner:
      FieldError(field: "role", text: GrantWords.lastOwner)
    case .unavailable: throw .unavailable(self)
    }
  }
}
