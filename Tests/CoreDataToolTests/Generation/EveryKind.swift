/// A model with everything that `@Entity` classes can say.
enum EveryKind {
    private static let types = [
        "Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float", "String", "Boolean", "Date", "Binary",
        "UUID", "URI",
    ]

    /// Each type required and optional.
    private static let plainAttributes = types.enumerated().map { index, type in
        """
        <attribute name="required\(index)" attributeType="\(type)"/>
        <attribute name="optional\(index)" optional="YES" attributeType="\(type)"/>
        """
    }.joined(separator: "\n")

    static let model = """
        <entity name="Everything" representedClassName="Everything">
            \(plainAttributes)
            <attribute name="short" attributeType="Integer 16" defaultValueString="-3" minValueString="-5" \
        maxValueString="-1"/>
            <attribute name="middle" optional="YES" attributeType="Integer 32" defaultValueString="7" \
        minValueString="0"/>
            <attribute name="long" attributeType="Integer 64" defaultValueString="9223372036854775807" \
        maxValueString="-1"/>
            <attribute name="exact" attributeType="Decimal" defaultValueString="12.345" minValueString="-0.01" \
        maxValueString="99.99"/>
            <attribute name="real" attributeType="Double" defaultValueString="1e-07" minValueString="-2.5"/>
            <attribute name="small" attributeType="Float" defaultValueString="0.1" maxValueString="1"/>
            <attribute name="text" attributeType="String" defaultValueString="a &quot;b&quot;\\(c)&#10;d" \
        minValueString="2" maxValueString="9"
                regularExpressionString="\\d+ \\w*"/>
            <attribute name="emptyText" attributeType="String" defaultValueString=""/>
            <attribute name="flag" attributeType="Boolean" defaultValueString="YES"/>
            <attribute name="noFlag" optional="YES" attributeType="Boolean" defaultValueString="NO"/>
            <attribute name="time" optional="YES" attributeType="Date" minDateTimeInterval="0" \
        maxDateTimeInterval="86400.5"/>
            <attribute name="computedDefaultDecimal" attributeType="Decimal" \
        defaultValueString="1234567890123456789012345.6789"/>
            <attribute name="computedDefaultDate" attributeType="Date" defaultDateTimeInterval="-1.5"/>
            <attribute name="computedDefaultUUID" attributeType="UUID" \
        defaultValueString="11111111-2222-3333-4444-555555555555"/>
            <attribute name="computedDefaultURI" attributeType="URI" defaultValueString="https://example.org/a?b=1"/>
            <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <attribute name="secret" optional="YES" attributeType="String" allowsCloudEncryption="YES"/>
            <attribute name="kept" attributeType="UUID" preserveAfterDeletion="YES"/>
            <attribute name="found" optional="YES" attributeType="String" spotlightIndexingEnabled="YES"/>
            <attribute name="renamed" optional="YES" attributeType="String" elementID="original" \
        versionHashModifier="2"/>
            <attribute name="color" optional="YES" attributeType="Transformable" \
        valueTransformerName="ColorTransformer"/>
            <attribute name="shape" attributeType="Transformable" valueTransformerName="ShapeTransformer"/>
            <attribute name="isSelected" transient="YES" attributeType="Boolean" defaultValueString="NO"/>
            <attribute name="speed" optional="YES" transient="YES" attributeType="Double" defaultValueString="0.5"/>
            <attribute name="cache" optional="YES" transient="YES"/>
            <attribute name="tally" optional="YES" transient="YES" attributeType="Integer 64"/>
            <attribute name="changed" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
            <attribute name="canonicalText" optional="YES" attributeType="String" derived="YES" \
        derivationExpression="canonical:(text)"/>
            <attribute name="partCount" attributeType="Integer 64" derived="YES" derivationExpression="parts.@count"/>
            <attribute name="total" optional="YES" attributeType="Double" derived="YES" \
        derivationExpression="parts.@sum.weight"/>
            <attribute name="class" optional="YES" attributeType="String"/>
            <attribute name="default" attributeType="String" defaultValueString="x"/>
            <attribute name="id" optional="YES" attributeType="String"/>
            <attribute name="ID" optional="YES" attributeType="String"/>
            <attribute name="extension" optional="YES" attributeType="String"/>
            <attribute name="deleted" optional="YES" attributeType="Boolean"/>
            <attribute name="inherited" optional="YES" attributeType="String"/>
            <attribute name="object" optional="YES" attributeType="String"/>
            <attribute name="größe" optional="YES" attributeType="Integer 32"/>
            <relationship name="nearest" optional="YES" transient="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Part"/>
            <relationship name="seen" optional="YES" toMany="YES" transient="YES" deletionRule="Nullify" \
        destinationEntity="Everything"
                inverseName="seenBy" inverseEntity="Everything"/>
            <relationship name="seenBy" optional="YES" toMany="YES" transient="YES" deletionRule="Nullify" \
        destinationEntity="Everything"
                inverseName="seen" inverseEntity="Everything"/>
            <fetchedProperty name="heavy"><fetchRequest entity="Part" predicateString="weight &gt; \
        5"/></fetchedProperty>
            <relationship name="parts" toMany="YES" minCount="1" maxCount="30" deletionRule="Cascade" \
        destinationEntity="Part"
                inverseName="in" inverseEntity="Part"/>
            <relationship name="pieces" toMany="YES" deletionRule="Deny" ordered="YES" destinationEntity="Piece" \
        inverseName="owner"
                inverseEntity="Piece" elementID="bits"/>
            <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Everything"
                inverseName="friendsOf" inverseEntity="Everything"/>
            <relationship name="friendsOf" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Everything"
                inverseName="friends" inverseEntity="Everything"/>
            <relationship name="matches" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Everything"
                inverseName="matches" inverseEntity="Everything"/>
            <relationship name="twin" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Everything"
                inverseName="twin" inverseEntity="Everything"/>
            <relationship name="main" optional="YES" minCount="1" maxCount="1" deletionRule="No Action" \
        destinationEntity="Piece"/>
            <relationship name="switch" maxCount="1" deletionRule="Nullify" destinationEntity="SetEntity" \
        inverseName="case"
                inverseEntity="SetEntity" versionHashModifier="1"/>
            <uniquenessConstraints>
                <uniquenessConstraint><constraint value="text"/></uniquenessConstraint>
                <uniquenessConstraint><constraint value="short"/><constraint value="class"/></uniquenessConstraint>
            </uniquenessConstraints>
            <fetchIndex name="byTimeIndex"><fetchIndexElement property="time" type="Binary" \
        order="ascending"/></fetchIndex>
            <fetchIndex name="byTextAndClassIndex">
                <fetchIndexElement property="text" type="Binary" order="ascending"/>
                <fetchIndexElement property="class" type="Binary" order="ascending"/>
            </fetchIndex>
        </entity>
        <entity name="Part" representedClassName="Part" isAbstract="YES" elementID="OldPart" versionHashModifier="b">
            <attribute name="weight" attributeType="Double"/>
            <relationship name="in" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Everything" \
        inverseName="parts"
                inverseEntity="Everything"/>
        </entity>
        <entity name="Piece" representedClassName="Piece" parentEntity="Part">
            <attribute name="number" attributeType="Integer 64" defaultValueString="1"/>
            <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Everything"
                inverseName="pieces" inverseEntity="Everything"/>
        </entity>
        <entity name="Crumb" representedClassName="Crumb" parentEntity="Piece"/>
        <entity name="SetEntity" representedClassName="SetEntity">
            <relationship name="case" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Everything"
                inverseName="switch" inverseEntity="Everything"/>
        </entity>
        <entity name="Alone" representedClassName="Alone"/>
        <entity name="Empty" representedClassName="Empty" isAbstract="YES"/>
        <entity name="Filled" representedClassName="Filled" parentEntity="Empty">
            <attribute name="name" attributeType="String"/>
        </entity>
        """
}
