import HTTP
import Identity
import Localization

struct GrantAnswers: Sendable {
  var role = ""
  var place = GrantScope()
  /// The last day of the role, as entered; empty for no end.
  var last = ""

  init() {}

  init(_ grant: Grant) {
    role = grant.role.rawValue
    place = GrantScope(grant)
  }

  init(_ form: Form) {
    role = form.trimmed("role")
    last = form.trimmed("last")
    place =
      form.text("place").map { GrantScope($0) }
      ?? GrantScope(project: form.trimmed("project"), tenant: form.trimmed("tenant"))
  }

  var fields: [HiddenField] {
    [
      HiddenField(name: "role", value: role), HiddenField(name: "project", value: place.project),
      HiddenField(name: "tenant", value: place.tenant ?? ""),
    ]
  }

  var query: Form {
    var query = Form()
    for field in fields where !field.value.isEmpty { query.add(field.name, field.value) }
    return query
  }

  func grant() -> (grant: Grant?, errors: [FieldError]) {
    guard let role = Role(rawValue: role) else {
      return (nil, [FieldError(field: "role", text: Message("Choose a role."))])
    }
    if place.tenant != nil, ["", GrantScope.instance].contains(place.project) {
      return (
        nil, [FieldError(field: "place", text: Message("Enter the project ID of the tenant."))]
      )
    }
    guard let grant = place.grant(role) else {
      return (
        nil,
        [
          FieldError(
            field: "place",
            text: Message("Choose one, or enter a project ID or * for the whole instance."))
        ]
      )
    }
    return (grant, [])
  }

  /// Parses the last day; returns the end of the role, which is the end of that day, or the error.
  func end(_ times: Times) -> (end: Instant?, errors: [FieldError]) {
    guard !last.isEmpty else { return (nil, []) }
    guard let day = Day(last) else {
      return (
        nil, [FieldError(field: "last", text: Message("Enter a date in the form YYYY-MM-DD."))]
      )
    }
    return (times.start(of: day.next), [])
  }

  static func last(_ end: Instant?, _ times: Times) -> String {
    end.map { times.calendarDay(of: $0.advanced(bySeconds: -1)).description } ?? ""
  }
}

struct Places: Sendable {
  let identity: Identity

  private static let most = 60

  /// Lists the instance, projects, and tenants; returns nil if there are too many for one menu.
  func few(for administrator: Administrator) async throws -> [(
    value: String, text: Message
  )]? {
    let projects = try await identity.pools.projectNames(visibleTo: administrator, limit: 21)
    guard projects.count <= 20 else { return nil }
    var places = [
      (value: GrantScope.instance, text: Message("The whole instance"))
    ]
    for (id, name) in projects {
      let projectName = Formatted.short(name, 60)
      places.append(
        (id.text, Message("Project {project}", ["project": .name(projectName)])))
      let tenants = try await identity.pools.tenantNames(
        project: id, visibleTo: administrator, limit: Self.most)
      for (tenant, tenantName) in tenants {
        let path = Message.verbatim(
          "\(Isolation.isolated(projectName)) / \(Isolation.isolated(Formatted.short(tenantName, 60)))"
        )
        places.append(("\(id.text)/\(tenant.text)", path))
      }
      guard places.count <= Self.most else { return nil }
    }
    return places
  }

  /// Returns the options of a menu; a chosen scope that isn't among them is an option too, so that the
  /// form doesn't choose another.
  ///
  /// If none is chosen, the first one means none, because the next is the widest.
  static func options(
    _ places: [(value: String, text: Message)], chosen: String
  ) -> [Field.Option] {
    var options = places.map { Field.Option(value: $0.value, label: $0.text) }
    if !chosen.isEmpty, !places.contains(where: { $0.value == chosen }) {
      let text = Message(
        "{place} (deleted or unknown)", ["place": .name(Formatted.short(chosen, 60))])
      options.append(Field.Option(value: chosen, label: text))
    }
    if chosen.isEmpty, options.count > 1 {
      options.insert(Field.Option(value: "", label: Message("Choose a project or tenant")), at: 0)
    }
    return options
  }
}

extension GrantAnswers {
  /// Returns the fields of a form for a role; `places` are nil if there are too many for a menu.
  ///
  /// `times` is in the time zone that the form names.
  func fields(
    in places: [(value: String, text: Message)]?, _ times: Times, at now: Instant
  ) -> [Field] {
    let roles = Role.allCases.map { role in
      Field.Option(
        value: role.rawValue,
        label: Message(
          "{role}: {summary}",
          ["role": .message(role.title), "summary": .message(role.summary)]))
    }
    let prompt = Field.Option(value: "", label: Message("Choose a role"), isPrompt: true)
    let role = Field.menu("role", Message("Role"), [prompt] + roles, value: self.role)
    let end = Field.grantEnd(last, times, at: now)
    guard let places else {
      var project = Field.line(
        "project", Message("Project ID"),
        hint: Message(
          """
          Enter * for the whole instance. A role on a project also applies to the project’s \
          tenants.
          """), Field.Look.code, value: place.project)
      project.id = "place"
      let tenant = Field.line(
        "tenant", Message("Tenant ID <span class=\"soft\">(for one tenant only)</span>"),
        Field.Look.code, value: place.tenant ?? "")
      return [role, project, tenant] + end
    }
    let menu = Field.menu(
      "place", Message("Project or tenant"),
      hint: Message("A role on a project also applies to the project’s tenants."),
      Places.options(places, chosen: place.text), value: place.text)
    return [role, menu] + end
  }
}

extension Field {
  /// The fields for the last day of a role.
  static func grantEnd(_ last: String, _ times: Times, at now: Instant) -> [Field] {
    let today = times.calendarDay(of: now)
    let longest = Administrators.longestGrant - 2 * 86_400
    return [
      .hidden(times.hiddenZone),
      .date(
        "last", Message("Last day <span class=\"soft\">(optional)</span>"),
        hint: Message(
          """
          The role ends automatically at the end of this day ({zone}), at most two years from now. \
          Leave empty for no end date.
          """, ["zone": .text(times.zoneName)]),
        Field.Range(first: today, last: Day(today.start.advanced(bySeconds: longest))), value: last),
    ]
  }
}

extension ManagementError {
  func fault(_ answers: GrantAnswers) throws -> FieldError {
    switch self {
    case .invalidEmail: AdministratorError.invalidEmail.fault()
    case .emailTaken: AdministratorError.emailTaken.fault()
    case .invalidName:
      FieldError(field: "name", text: Message("Enter a name of 1 to 100 characters."))
    case .poolNotFound:
      FieldError(
        field: "place",
        text: answers.place.tenant == nil
          ? Message(
            "Project {project} doesn’t exist.",
            ["project": .name(Formatted.short(answers.place.project))])
          : Message(
            "This tenant doesn’t exist in {project}.",
            ["project": .name(Formatted.short(answers.place.project))]))
    case .endInPast:
      FieldError(field: "last", text: Message("Enter a last day that isn’t in the past."))
    case .endTooLate:
      FieldError(field: "last", text: Message("Enter a last day within two years."))
    case .notAllowed: throw Refusal.notAllowed(.manageAdministrators)
    case .oneself:
      FieldError(
        field: "role",
        text: Message(
          "You can’t change your own roles. Ask another administrator with the {roles} role.",
          ["roles": Permission.manageAdministrators.roleNames]))
    case .lastOwner:
      FieldError(field: "role", text: GrantText.lastOwner)
    case .breakGlassAccount:
      FieldError(field: "role", text: GrantText.breakGlass)
    case .roleFromGroup:
      FieldError(
        field: "last",
        text: Message(
          """
          A group at the sign-in provider grants this role, so it would return at the next sign-in. \
          Change the group’s members or its role instead.
          """))
    case .passwordSignInOff:
      FieldError(
        field: "email",
        text: Message(
          """
          Invitations can’t be accepted while password sign-in is off. Add the person to a group at \
          the sign-in provider, or turn password sign-in on.
          """))
    }
  }
}
