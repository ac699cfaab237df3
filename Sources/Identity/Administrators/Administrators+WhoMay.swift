import Database

/// The other administrators who have a permission.
public struct Colleagues: Sendable, Equatable {
  /// The names of those that the asking administrator may know of.
  public let names: [String]
  /// How many there are, those without a name here included.
  public let count: Int
}

extension Administrators {
  /// The other administrators who have a permission in a scope, for one who has it too.
  ///
  /// Names are told as ``namesOfThose(with:in:for:)`` does.
  ///
  /// - Parameters:
  ///   - permission: What is to be done.
  ///   - scope: Where.
  ///   - asking: Who wants to know.
  /// - Returns: At most three names, and how many there are.
  /// - Throws: ``AdministratorError/unavailable(_:)``.
  public func colleagues(
    with permission: Permission, in scope: Scope, of asking: Administrator
  ) async throws(AdministratorError) -> Colleagues {
    let roles = Role.allCases.filter { $0.permissions.contains(permission) }
    return try await store.read(AdministratorError.self) { connection in
      var (names, known): ([String], Set<String>) = ([], [asking.id.text])
      for place in Self.places(around: scope) {
        let isVisible = asking.grants.contains {
          $0.covers(project: place.project, tenant: place.tenant)
        }
        for role in roles {
          let found = try connection.all(
            """
            SELECT a.administrator_id, a.display_name FROM administrator_grant g
              JOIN administrator a USING (administrator_id)
            WHERE g.project_id = \(place.project?.text ?? "")
              AND g.tenant_id = \(place.tenant?.text ?? "") AND g.role = \(role.rawValue)
            LIMIT \(Self.mostColleagues)
            """
          ) { (id: try $0.value(0) as String, name: try $0.value(1) as String) }
          for one in found where known.insert(one.id).inserted && isVisible {
            names.append(one.name)
          }
        }
      }
      return Colleagues(
        names: Array(names.prefix(Self.mostNames)), count: known.count - 1)
    }
  }

  private static let mostNames = 3
  private static let mostColleagues = 1_000

  /// The names of some administrators who have a permission in a scope, for somebody who has not.
  ///
  /// One learns of those whose grant is on something that one's own grant reaches: of colleagues on
  /// the same project or tenant, and of those on the instance only with a grant on the instance.
  /// A supporter of one tenant is not told who owns the server.
  ///
  /// - Parameters:
  ///   - permission: What is to be done.
  ///   - scope: Where; nil for the instance.
  ///   - asking: Who wants to know.
  /// - Returns: At most three names.
  /// - Throws: ``AdministratorError/unavailable(_:)``.
  public func namesOfThose(
    with permission: Permission, in scope: Scope?, for asking: Administrator
  ) async throws(AdministratorError) -> [String] {
    let roles = Role.allCases.filter { $0.permissions.contains(permission) }
    let places = Self.places(around: scope).filter { place in
      asking.grants.contains { $0.covers(project: place.project, tenant: place.tenant) }
    }
    return try await store.read(AdministratorError.self) { connection in
      var names: [String] = []
      for place in places {
        for role in roles {
          let found: [String] = try connection.all(
            """
            SELECT a.display_name FROM administrator_grant g JOIN administrator a
              USING (administrator_id)
            WHERE g.project_id = \(place.project?.text ?? "")
              AND g.tenant_id = \(place.tenant?.text ?? "") AND g.role = \(role.rawValue)
            LIMIT \(Self.mostNames)
            """
          ) { try $0.value(0) }
          for name in found where !names.contains(name) { names.append(name) }
        }
      }
      return Array(names.prefix(Self.mostNames))
    }
  }

  /// The administrators to email about a pool: each once, by the first of the roles that they have
  /// in it or around it.
  ///
  /// - Parameters:
  ///   - roles: The roles, in order.
  ///   - scope: The pool.
  ///   - most: How many at most.
  ///   - connection: The transaction.
  /// - Returns: The administrators' IDs and addresses.
  /// - Throws: When the database can't be read.
  static func recipients(
    with roles: [Role], around scope: Scope, atMost most: Int, _ connection: borrowing Connection
  ) throws -> [(id: ID<Administrator>, email: String, role: Role)] {
    var found: [(id: ID<Administrator>, email: String, role: Role)] = []
    for role in roles {
      for place in places(around: scope) {
        let granted = try connection.all(
          """
          SELECT a.administrator_id, a.email FROM administrator_grant g JOIN administrator a
            USING (administrator_id)
          WHERE g.project_id = \(place.project?.text ?? "")
            AND g.tenant_id = \(place.tenant?.text ?? "") AND g.role = \(role.rawValue)
          LIMIT \(most)
          """
        ) { (id: ID<Administrator>(try $0.value(0)), email: try $0.value(1) as String) }
        for one in granted where found.count < most && !found.contains(where: { $0.id == one.id }) {
          found.append((one.id, one.email, role))
        }
      }
    }
    return found
  }

  /// Where a grant counts for a scope, the nearest first.
  static func places(
    around scope: Scope?
  ) -> [(project: ID<Project>?, tenant: ID<Tenant>?)] {
    var places: [(project: ID<Project>?, tenant: ID<Tenant>?)] = []
    if let scope {
      if scope.tenant != nil { places.append((scope.project, scope.tenant)) }
      places.append((scope.project, nil))
    }
    return places + [(nil, nil)]
  }
}
