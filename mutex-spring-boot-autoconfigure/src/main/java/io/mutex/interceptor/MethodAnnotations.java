package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;

import io.mutex.annotation.Fenced;
import io.mutex.annotation.SingleRun;
import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * The annotations that apply to one method, the nearest first: on the method, on what it
 * overrides or implements, on the class. An annotation on a class applies to its public
 * methods.
 *
 * @param singleRun the single run, or {@code null}
 * @param fenced the fenced work, or {@code null}
 * @param onMethod whether one of them stands on a method, not only on a class
 */
record MethodAnnotations(@Nullable MergedAnnotation<SingleRun> singleRun, @Nullable MergedAnnotation<Fenced> fenced,
		boolean onMethod) {

	/**
	 * Finds the annotated methods of a class.
	 * @param targetClass the class
	 * @return the methods as this class has them, with their annotations
	 */
	static Map<Method, MethodAnnotations> find(Class<?> targetClass) {
		if (!AnnotationUtils.isCandidateClass(targetClass, List.of(SingleRun.class, Fenced.class))) {
			return Map.of();
		}
		MergedAnnotations onClass = MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY);
		return MethodIntrospector.selectMethods(targetClass,
				(Method method) -> of(method, MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY), onClass));
	}

	private static @Nullable MethodAnnotations of(Method method, MergedAnnotations onMethod,
			MergedAnnotations onClass) {
		MergedAnnotation<SingleRun> singleRun = onMethod.get(SingleRun.class);
		MergedAnnotation<Fenced> fenced = onMethod.get(Fenced.class);
		boolean found = singleRun.isPresent() || fenced.isPresent();
		if (Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())) {
			singleRun = singleRun.isPresent() ? singleRun : onClass.get(SingleRun.class);
			fenced = fenced.isPresent() ? fenced : onClass.get(Fenced.class);
		}
		return (singleRun.isPresent() || fenced.isPresent()) ? new MethodAnnotations(
				singleRun.isPresent() ? singleRun : null, fenced.isPresent() ? fenced : null, found) : null;
	}

}
