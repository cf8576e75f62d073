package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The text attributes of one method: placeholders, and expressions over its parameters.
 */
final class MethodExpressions {

	private static final SpelExpressionParser PARSER = new SpelExpressionParser();

	private static final ParserContext TEMPLATE = new TemplateParserContext();

	private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

	private final Declaration declaration;

	private final ConfigurableBeanFactory beanFactory;

	// what it finds out by reflection serves every call
	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	private final Set<String> parameterNames = new HashSet<>();

	private final boolean named;

	MethodExpressions(Declaration declaration, ConfigurableBeanFactory beanFactory) {
		this.declaration = declaration;
		this.beanFactory = beanFactory;
		this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
		@Nullable String @Nullable [] names = NAMES.getParameterNames(declaration.method());
		this.named = names != null;
		for (int index = 0; index < declaration.method().getParameterCount(); index++) {
			this.parameterNames.add("p" + index);
			this.parameterNames.add("a" + index);
			String name = (names != null) ? names[index] : null;
			if (name != null) {
				this.parameterNames.add(name);
			}
		}
	}

	Declaration declaration() {
		return this.declaration;
	}

	Set<String> parameterNames() {
		return this.parameterNames;
	}

	/**
	 * Replaces placeholders.
	 * @param attribute the name of the attribute
	 * @param text its text
	 * @return the resolved text
	 * @throws MutexConfigurationException if a placeholder has no value
	 */
	String resolve(String attribute, String text) {
		String resolved;
		try {
			resolved = this.beanFactory.resolveEmbeddedValue(text);
		}
		catch (IllegalArgumentException ex) {
			throw unresolved(attribute, text, ex);
		}
		if (resolved == null || resolved.contains("${")) {
			throw unresolved(attribute, text, null);
		}
		return resolved;
	}

	private MutexConfigurationException unresolved(String attribute, String text, @Nullable Throwable cause) {
		return this.declaration.refuse("its " + attribute + " '" + text + "' has a placeholder without a value",
				"Set the property, or give the placeholder a default", cause);
	}

	/**
	 * Splits a template into its parts.
	 * @param attribute the name of the attribute
	 * @param template the resolved text
	 * @return literal and SpEL expressions
	 * @throws MutexConfigurationException if it cannot be evaluated
	 */
	List<Expression> parseTemplate(String attribute, String template) {
		Expression whole;
		try {
			whole = PARSER.parseExpression(template, TEMPLATE);
		}
		catch (ParseException ex) {
			throw unparsable(attribute, template, ex);
		}
		List<Expression> parts = (whole instanceof CompositeStringExpression composite)
				? List.of(composite.getExpressions()) : List.of(whole);
		parts.forEach((part) -> checkVariables(attribute, template, part));
		return parts;
	}

	/**
	 * Parses an expression that is not a template.
	 * @param attribute the name of the attribute
	 * @param text the resolved text
	 * @return the expression
	 * @throws MutexConfigurationException if it cannot be evaluated
	 */
	Expression parseExpression(String attribute, String text) {
		try {
			Expression expression = PARSER.parseExpression(text);
			checkVariables(attribute, text, expression);
			return expression;
		}
		catch (ParseException ex) {
			throw unparsable(attribute, text, ex);
		}
	}

	private MutexConfigurationException unparsable(String attribute, String text, ParseException ex) {
		return this.declaration.refuse("its " + attribute + " '" + text + "' is not a valid expression",
				"Correct it: " + ex.getSimpleMessage(), ex);
	}

	private void checkVariables(String attribute, String text, Expression expression) {
		if (!(expression instanceof SpelExpression spel)) {
			return;
		}
		for (String variable : variables(spel.getAST(), new ArrayList<>())) {
			if (this.parameterNames.contains(variable) || "root".equals(variable) || "this".equals(variable)) {
				continue;
			}
			boolean compiledWithoutNames = !this.named && this.declaration.method().getParameterCount() > 0;
			throw this.declaration.refuse(
					"its " + attribute + " '" + text + "' uses #" + variable + ", "
							+ (compiledWithoutNames ? "but the class was compiled without parameter names"
									: "which is no parameter of the method"),
					compiledWithoutNames
							? "Compile it with -parameters, or name the parameter by its position: #p0 is the first"
							: usable());
		}
	}

	private String usable() {
		return this.parameterNames.isEmpty()
				? "The method has no parameters: add this one, or name a bean, as in @clock"
				: "Use one of " + this.parameterNames.stream().sorted().map((name) -> "#" + name).toList();
	}

	private static List<String> variables(SpelNode node, List<String> found) {
		if (node instanceof VariableReference) {
			found.add(node.toStringAST().substring(1));
		}
		for (int index = 0; index < node.getChildCount(); index++) {
			variables(node.getChild(index), found);
		}
		return found;
	}

	/**
	 * Creates what expressions are evaluated in.
	 * @param target the bean
	 * @param arguments the arguments of the call
	 * @return the context
	 */
	EvaluationContext context(@Nullable Object target, @Nullable Object[] arguments) {
		Method method = this.declaration.method();
		MethodBasedEvaluationContext context = new MethodBasedEvaluationContext((target != null) ? target : method,
				method, arguments, NAMES);
		this.shared.applyDelegatesTo(context);
		return context;
	}

}
